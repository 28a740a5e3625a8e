// Compiles kernels (lower_kernels.h) to PTX.
//
//   mlir   the kernels as lowered
//   nvvm   the LLVM dialect with nvvm operations; from here the emulator goes another way (emulate.h)
//   llvm   LLVM IR, optimized for the chip
//   ptx    the text that ptxas assembles (ptxas.h)
//
// One PTX has all kernels of a program. Errors: kInvalidArgument if the module does not verify, has an operation
// without a lowering, or lacks a kernel of the launches; kFailedPrecondition if a GPU lacks a function (it is named) or
// LLVM lacks the chip; kInternal if a pass fails. One thread.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "backends/runner/launch.h"

namespace mlir {
class ModuleOp;
}

namespace kiln {

// Converts a module with GPU kernels to the LLVM dialect with nvvm operations, in place. The kernels get attributes for
// what their launches promise: the most threads of a block, and pointers that are aligned to 16 bytes and, unless the
// kernel both reads and writes them, do not overlap (noalias).
absl::Status ToNvvm(mlir::ModuleOp module, const LaunchList& launches);

struct PtxStages {
  std::string llvm = {};  // only if asked for: to print it takes longer than to make PTX of it
  std::string ptx;
  double translate = 0, optimize = 0, emit = 0;  // CPU milliseconds
};

// Translates a module to PTX, after ToNvvm has converted it. `chip`: a GPU that LLVM knows, such as sm_80, sm_90a or
// sm_120. `prints_llvm`: returns the text of the LLVM IR, too.
absl::StatusOr<PtxStages> ToPtx(mlir::ModuleOp module, const std::string& chip, bool prints_llvm = false);

}  // namespace kiln
