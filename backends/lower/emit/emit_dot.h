// Emits a call of an intrinsic as a dot-product instruction (VNNI, bf16, SDOT). Private to emit/.
#pragma once

#include "backends/lower/emit/emit_access.h"
#include "backends/lower/passes/calls.h"

namespace kiln {

void EmitDot(MemoryEmitter& memory, const plan::Call& call, const plan::DotOperands& operands);

}  // namespace kiln
