// Compiles the program of a build request for a GPU: Program -> PlanKernels -> LowerKernels -> ToNvvm, then PTX and
// cubins, or an object that the emulator runs. Private to kiln-builder. One thread.
#pragma once

#include "absl/status/status.h"
#include "backends/builder/builder.h"

namespace kiln {

inline constexpr char kGpuTriple[] = "nvptx64-nvidia-cuda";

inline bool IsForGpu(const BuildRequest& request) { return request.triple == kGpuTriple; }

// Builds the outputs that a request for a GPU asks for. Errors: kFailedPrecondition if the program uses something that
// plans or lowering for GPUs do not have, if LLVM does not know the GPU, if a kernel takes more shared memory than a
// block has, if a kernel of a cubin spills or has a stack, if ptxas warns of what may hang (backends/gpu/ptxas.h), or
// if the request sets print_after_all; kNotFound if ptxas or a disassembler is missing and an output needs it;
// kInvalidArgument for a module, for outputs that only CPUs have, for a program that cannot be deserialized, and if
// ptxas refuses the code; kInternal if LLVM fails.
absl::Status BuildKernels(const BuildRequest& request, BuildResult* result);

}  // namespace kiln
