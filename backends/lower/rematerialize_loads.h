// Rematerialization of loads: a loop loads values again in each iteration if keeping them would take more
// registers than there are.
//
// A register tile whose reduction is unrolled loads hundreds of values that do not depend on the loop around
// it. LLVM would hoist all of these loads out of that loop, spill the values, and spill sums to make room.
// Loaded where they are used, the values need one register.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// In each scf.for that directly holds more than `registers` loads at indices from outside of it, these get a
// zero added to their index that LLVM cannot see through and makes anew in each iteration.
void RematerializeLoads(mlir::ModuleOp module, int registers);

}  // namespace kiln
