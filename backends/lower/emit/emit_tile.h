// Emits a call of an intrinsic for a CPU's matrix unit (AMX): loads tiles of A and B by rows and adds their product to
// a tile of C. A tile of C that lies on the stack without gaps between its rows is one vector (of 256 elements) in the
// emitted code, which LLVM keeps in a tile register. Other tiles of C are loaded and stored by rows. LLVM also
// configures the unit. Private to emit/.
#pragma once

#include "backends/lower/emit/emit_access.h"
#include "backends/lower/passes/calls.h"

namespace kiln {

void EmitTile(MemoryEmitter& memory, const plan::TileOperands& operands);

}  // namespace kiln
