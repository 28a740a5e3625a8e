// Answers one build request in the calling process: Program -> Lower -> Codegen -> LinkShared. Only
// kiln-builder uses it. Others go through the pool (pool.h), for LLVM may crash. One thread, as for Codegen.
#pragma once

#include "backends/builder/builder.h"

namespace kiln {

// Limits are the caller's to keep.
BuildResult Build(const BuildRequest& request);

}  // namespace kiln
