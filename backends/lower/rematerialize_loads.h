// Rematerializes loads: a loop loads values again in each iteration if keeping them would take more registers
// than there are.
//
// A register tile whose reduction is unrolled loads hundreds of values that do not depend on the loop around
// it. LLVM would hoist all of these loads out of the loop, spill the values, and spill accumulators to make
// room. If a value is loaded where it is used, it needs one register.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// Finds each scf.for that contains more than `registers` loads at loop-invariant indices, from memory that it only
// loads from. Loads in inner loops do not count; those in ifs do. Adds to these indices a zero that LLVM cannot see
// through and that each iteration computes anew.
void RematerializeLoads(mlir::ModuleOp module, int registers);

}  // namespace kiln
