// Answers a build request for a GPU: Program -> PlanKernels -> LowerKernels -> ToNvvm, then PTX and cubins, or an
// object that the emulator runs. Private to kiln-builder. One thread.
#pragma once

#include "absl/status/status.h"
#include "backends/builder/builder.h"

namespace kiln {

inline constexpr char kGpuTriple[] = "nvptx64-nvidia-cuda";

inline bool IsForGpu(const BuildRequest& request) { return request.triple == kGpuTriple; }

// kFailedPrecondition if the program has no kernels, a kernel spills or has a stack, or ptxas warns of what may
// hang (backends/gpu/ptxas.h); kNotFound if ptxas is missing and an output needs it.
absl::Status BuildKernels(const BuildRequest& request, BuildResult* result);

}  // namespace kiln
