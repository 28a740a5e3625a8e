// Describes a GPU as a Target, whose default space is `cuda`.
//
//   const Target target = GpuTarget(*FindGpu("h100"));
//
// Pure function. Errors: none. The target keeps a pointer to the GPU.
#pragma once

#include "lang/target/target.h"

namespace kiln {

Target GpuTarget(const Gpu& gpu);  // a row of lang/target/gpu.h

}  // namespace kiln
