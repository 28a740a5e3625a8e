// Emits a call of an intrinsic for a CPU's matrix unit (AMX): loads tiles of A and B by rows and adds their product to
// a tile of C. In the emitted code, a tile of C on the stack is a vector of 256 elements, which LLVM keeps in a tile
// register. LLVM also configures the unit. Private to emit/.
#pragma once

#include "backends/lower/emit/emit_access.h"
#include "backends/lower/passes/calls.h"

namespace kiln {

void EmitTile(MemoryEmitter& memory, const plan::TileOperands& operands);

}  // namespace kiln
