// Compiles the kernels of a GPU to host code that the emulator runs (backends/runner/emulator/emulator.h). It
// starts from the module that PTX is made from (codegen.h, stage nvvm), so that it judges the code that a GPU
// would run.
//
//   ToNvvm(*lowered.module, lowered.launches);
//   const auto library = EmulateKernels(*lowered.module, lowered.launches, "softmax");   // a shared object
//
// Its entry points NAME and, if some launch is of the prepare phase, NAME_prepare have the signature of CPU
// kernels (backends/lower/lower.h): a pointer for each parameter, and a status, which is kEmulationFault
// after a fault. A fake of NVIDIA's driver can run a single kernel K:
//
//   int32_t K_launch(void* const* arguments, const int64_t* bytes, int64_t blocks, int64_t threads, int64_t shared)
//   int32_t K_arguments()     // how many it takes
//
// Each nvvm operation becomes a call, and a call that checks the access comes before each load
// and store, except from the memory of a thread and from constants. kFailedPrecondition if the emulator lacks
// an operation, which is named.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "backends/runner/launch.h"

namespace mlir {
class ModuleOp;
}

namespace kiln {

// Compiles the module's kernels for the emulator. Returns the bytes of a shared object with the entry points NAME,
// NAME_prepare if a launch is of the prepare phase, and K_launch and K_arguments for each kernel K. Changes the module.
absl::StatusOr<std::string> EmulateKernels(mlir::ModuleOp module, const LaunchList& launches,
                                           const std::string& name);

}  // namespace kiln
