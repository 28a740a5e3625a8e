// Loops that run on threads become functions: MLIR -> MLIR, before the conversion to LLVM.
//
//   %t = memref.alloca() {kiln.per_iteration}        func NAME.tile0(%lo, %hi, %x) {
//   scf.for %i = 0 to %n step 1 { %x, %t }     ->      %t = memref.alloca()
//       {kiln.parallel}                                scf.for %i = %lo to %hi step 1 { %x, %t } }
//                                                    func NAME.body0(%lo, %hi, %args) {
//                                                      the tile, of what args point to }
//                                                    args = [%x];  NAME.fork(%n, NAME.body0, args)
//
// NAME.fork runs the body through kiln_parallel_for (backends/runner/kiln_pool.h), a weak symbol, on as many
// threads as NAME_set_threads(int) said, which is one at first; where there is no pool, on the caller.
// Constants are made again in the tile, buffers are passed as pointers that do not alias, all other values in
// memory of the caller. An allocation marked kiln.per_iteration has users in such loops alone, and each tile
// makes its own, on the thread's stack or, where it was a memref.alloc, once for each range of iterations.
//
// The loops must begin at 0, step by 1, carry no values, and not be nested. One walk for modules without any.
#pragma once

#include <string>

#include "absl/functional/function_ref.h"

namespace mlir {
class ModuleOp;
}

namespace kiln {

inline constexpr char kParallelAttribute[] = "kiln.parallel";           // of scf.for
inline constexpr char kPerIterationAttribute[] = "kiln.per_iteration";  // of memref.alloca and memref.alloc

struct Promise {
  bool noalias = false;
  int alignment = 1;
};

// Whether there were such loops; then the module defines NAME_set_threads. `promise`: of the arguments of a
// function of this name.
bool OutlineParallel(mlir::ModuleOp module, const std::string& name,
                     absl::FunctionRef<Promise(const std::string& function)> promise);

// NAME_set_threads
std::string ThreadsSymbol(const std::string& name);

}  // namespace kiln
