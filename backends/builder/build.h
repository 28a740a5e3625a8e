// Compiles what a build request contains, in the calling process: a program for CPUs (Program -> Lower -> Codegen ->
// LinkShared) or for a GPU (build_kernels.h), an MLIR module, or a function on tensors that could not be imported as a
// Program. Only kiln-builder and tests use this. Other code goes through the pool (pool.h), because LLVM may crash. One
// thread, as for Codegen.
#pragma once

#include "backends/builder/builder.h"

namespace kiln {

// Builds the outputs that the request asks for. If one of them fails, the result has the status kBuildFailed, the
// error, and no outputs. The caller enforces the limits of the request.
BuildResult Build(const BuildRequest& request);

}  // namespace kiln
