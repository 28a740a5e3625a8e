// Emits a call of an intrinsic for a matrix unit (AMX): loads tiles of A and B by rows and adds their product
// to a tile of C. For everything but the unit, a tile of C is a vector of 256 elements. LLVM keeps it in a
// tile register if it stays on the stack, and configures the unit. Private to emit/.
#pragma once

#include "backends/lower/emit/emit_access.h"
#include "backends/lower/passes/calls.h"

namespace kiln {

void EmitTile(MemoryEmitter& memory, const plan::TileOperands& operands);

}  // namespace kiln
