// What a loop loads again in each iteration stays inside of it, where keeping it would take more registers
// than there are.
//
// A register tile whose reduction is written out loads hundreds of values that do not depend on the loop
// around it. LLVM would load them all before that loop, spill them, and spill sums to make room; loaded where
// they are used, they need one register.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace kiln {

// In each scf.for that directly holds more than `registers` loads at indices from outside of it, these get a
// zero added to their index that LLVM cannot see through and makes anew in each iteration.
void PinLoads(mlir::ModuleOp module, int registers);

}  // namespace kiln
