// Compiles the program of a build request in the calling process: Program -> Lower -> Codegen -> LinkShared. Only
// kiln-builder uses it. Other code goes through the pool (pool.h), because LLVM may crash. One thread, as for Codegen.
#pragma once

#include "backends/builder/builder.h"

namespace kiln {

// Builds the outputs that the request asks for. If that fails, the result has the status kBuildFailed and the error.
// The caller enforces the limits of the request.
BuildResult Build(const BuildRequest& request);

}  // namespace kiln
