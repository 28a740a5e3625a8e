// Describes a built Program as a kernel that runners can run: parameters with their roles, dtypes and sizes.
// Does not need LLVM. Pure.
#pragma once

#include <string>
#include <vector>

#include "backends/builder/builder.h"
#include "backends/runner/launch.h"
#include "backends/runner/runner.h"
#include "lang/program/program.h"
#include "lang/target/target.h"

namespace kiln {

// For each output in order, how far a kernel's result may differ from the original's.
std::vector<Tolerance> TolerancesOf(const Program& original);

// For each parameter the range of data for which the original is defined; no restriction if none is known. If
// no range is proven, some are tried on data of `data_seed` (lang/reference/trial_data.h).
std::vector<DataRange> RangesOf(const Program& original, uint64_t data_seed = 0);

// The data of a run as bytes, for each parameter that is not an output. Runners fill buffers with these
// bytes.
std::vector<std::string> TrialInputs(const Program& original, uint64_t data_seed,
                                     const std::vector<DataRange>& ranges);

// The parameters of the program in order. `tolerances` has an entry for each output in order; `ranges` are
// those of the original, or empty.
std::vector<KernelParam> ParamsOf(const Program& program, const std::vector<Tolerance>& tolerances,
                                  const std::vector<DataRange>& ranges);

// The kernel of a build whose only output is a shared object with the entry point `symbol`.
KernelObject KernelOf(const Program& program, const BuildResult& built, const std::string& symbol,
                      const std::vector<Tolerance>& tolerances, const std::vector<DataRange>& ranges = {});

// The request for a builder that compiles a program for a GPU. The entry point is "kernel".
BuildRequest GpuKernelBuild(const Target& target, const Program& program, BuildOutput output);

// The kernel for a runner of GPUs (backends/gpu/driver/cuda_kernel.h). `prepared`: what comes after the parameters of
// the program.
KernelObject GpuKernelOf(const Program& program, const std::string& cubin, const LaunchList& launches,
                         const std::vector<PreparedParam>& prepared, const std::vector<Tolerance>& tolerances,
                         const std::vector<DataRange>& ranges = {});

}  // namespace kiln
