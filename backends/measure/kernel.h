// Describes a built Program as a kernel that runners can run: parameters with their roles, dtypes, sizes, ranges and
// tolerances. Does not need LLVM. Pure.
#pragma once

#include <string>
#include <vector>

#include "backends/builder/builder.h"
#include "backends/runner/launch.h"
#include "backends/runner/runner.h"
#include "lang/program/program.h"
#include "lang/target/target.h"

namespace kiln {

// Returns for each output, in the order of the parameters, how far a candidate's result may differ from that of the
// original program.
std::vector<Tolerance> TolerancesOf(const Program& original);

// Returns for each parameter the range of data for which the original program is defined, or an unrestricted range if
// none is known. If no range is proven, tries some ranges on data of `data_seed` (lang/reference/trial_data.h).
std::vector<DataRange> RangesOf(const Program& original, uint64_t data_seed = 0);

// Returns the input data of a run: for each input, constant and scalar parameter, in order, the bytes that a runner
// generates from the seed. `ranges` has one range for each parameter, also for outputs.
std::vector<std::string> TrialInputs(const Program& original, uint64_t data_seed,
                                     const std::vector<DataRange>& ranges);

// Describes the parameters of the program, in their order, for a KernelObject. `tolerances` has an entry for each
// output in that order; `ranges` has one for each parameter of the original, or is empty.
std::vector<KernelParam> ParamsOf(const Program& program, const std::vector<Tolerance>& tolerances,
                                  const std::vector<DataRange>& ranges);

// Returns the kernel that a CPU runner runs for a build of the program, with the entry point `symbol`. The first output
// of the build must be a shared object.
KernelObject KernelOf(const Program& program, const BuildResult& built, const std::string& symbol,
                      const std::vector<Tolerance>& tolerances, const std::vector<DataRange>& ranges = {});

// Returns the request to compile a program to `output` for a target with a GPU. The entry point is "kernel".
BuildRequest GpuKernelBuild(const Target& target, const Program& program, BuildOutput output);

// Returns the kernel that a runner of GPUs (backends/gpu/driver/cuda_kernel.h) runs for a compiled program. `prepared`:
// the parameters that the prepare phase computes, which follow those of the program.
KernelObject GpuKernelOf(const Program& program, const std::string& cubin, const LaunchList& launches,
                         const std::vector<PreparedParam>& prepared, const std::vector<Tolerance>& tolerances,
                         const std::vector<DataRange>& ranges = {});

}  // namespace kiln
