// Answers one build request in the calling process: Program -> Lower -> Codegen -> LinkShared. Only
// kiln-builder uses it. Other code goes through the pool (pool.h), because LLVM may crash. One thread, as for
// Codegen.
#pragma once

#include "backends/builder/builder.h"

namespace kiln {

// Builds what the request asks for. The result says if that fails. The caller enforces the limits.
BuildResult Build(const BuildRequest& request);

}  // namespace kiln
