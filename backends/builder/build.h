// Answers one request in the calling process: Program -> Lower -> Codegen -> LinkShared. For kiln-builder;
// everybody else goes through the pool (pool.h), as LLVM may crash. One thread, as for Codegen.
#pragma once

#include "backends/builder/builder.h"

namespace kiln {

// Limits are the caller's to keep.
BuildResult Build(const BuildRequest& request);

}  // namespace kiln
