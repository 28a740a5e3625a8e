// Moves parallel loops to functions that threads call: MLIR to MLIR, before the conversion to LLVM.
//
//   %t = memref.alloca() {kiln.per_iteration}        func NAME.tile0(%lo, %hi, %x) {
//   scf.for %i = 0 to %n step 1 { %x, %t }     ->      %t = memref.alloca()
//       {kiln.parallel}                                scf.for %i = %lo to %hi step 1 { %x, %t } }
//                                                    func NAME.body0(%lo, %hi, %args) {
//                                                      NAME.tile0(%lo, %hi, what args point to) }
//                                                    args = [%x];  NAME.fork(%n, NAME.body0, args)
//
// NAME.fork runs the body through the weak symbol kiln_parallel_for (backends/runner/kiln_pool.h), on as many threads
// as NAME_set_threads(int) was given (initially one). Without a pool, the caller runs the body alone. Constants are
// created again in the tile. Buffers are passed as pointers. Those that the surrounding function allocates do not
// alias; its parameters do not if `promise` says so. All other values are passed in the caller's memory. An allocation
// marked kiln.per_iteration is used in such loops only. Each call of the tile makes its own: on the thread's stack for
// a memref.alloca, on the heap for a memref.alloc. A memref.reinterpret_cast marked kiln.per_iteration is the first of
// kiln.pieces equal pieces of an array: each thread takes one that no other thread has, and at most so many threads run
// the loop.
//
// The loops must begin at 0, step by 1, carry no values, and not be nested. A module without any costs one walk.
#pragma once

#include <string>

#include "absl/functional/function_ref.h"

namespace mlir {
class ModuleOp;
}

namespace kiln {

inline constexpr char kParallelAttribute[] = "kiln.parallel";           // on scf.for
inline constexpr char kPerIterationAttribute[] = "kiln.per_iteration";  // on memref.alloca and memref.alloc
inline constexpr char kPiecesAttribute[] = "kiln.pieces";  // on memref.reinterpret_cast: how many, 2 to 64

struct Promise {
  bool noalias = false;
  int alignment = 1;
};

// Moves the body of each loop marked kiln.parallel to a function that threads call. Returns true if there was such a
// loop; the module then defines NAME_set_threads. `promise` returns what callers promise about the pointers that they
// pass to a function of the module: no aliasing, and an alignment.
bool OutlineParallel(mlir::ModuleOp module, const std::string& name,
                     absl::FunctionRef<Promise(const std::string& function)> promise);

// Returns the name of the function that sets the number of threads of a compiled program: NAME_set_threads.
std::string ThreadsSymbol(const std::string& name);

}  // namespace kiln
