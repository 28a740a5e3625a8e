// Times kernels that compute the same in turns: in one process, on as many cores as the request has threads,
// and never at the same time as other work of Kiln. `kiln bench` and the benchmarks share it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/builder/pool.h"
#include "backends/runner/runner.h"
#include "lang/program/program.h"

namespace kiln {

// A scheduled program as a kernel; `original` says how far its outputs may be off.
absl::StatusOr<KernelObject> BuildKernel(const Program& original, const Program& scheduled,
                                         BuilderPool& builders, bool contract = true);

// The function of a file through stock passes (stock_pipeline.h), which has the parameters of `original`.
absl::StatusOr<KernelObject> StockKernel(absl::string_view mlir_text, const Program& original);

// One request on a runner of its own, at `runner_path`; empty: beside the running executable. kNotFound: a
// kernel could not be loaded; kInternal: the run did not end well; the message says how.
absl::StatusOr<RunResult> RunAlone(RunRequest request, const std::string& runner_path = "");

// Runs `trusted` once. With its outputs, which `folder` keeps, those of the request's kernels are compared
// from then on.
absl::Status CompareWith(const KernelObject& trusted, const std::string& folder, RunRequest* request,
                         const std::string& runner_path = "");

// RunAlone, after `trusted` was run once, with whose outputs all others are compared; those of
// request.stress.sets sets of stress inputs too.
absl::StatusOr<RunResult> RunPaired(const KernelObject& trusted, RunRequest request,
                                    const std::string& runner_path = "");

// The median, and where 95 of 100 medians of samples drawn from the samples lie.
struct MedianInterval {
  double median = 0, low = 0, high = 0;
};
MedianInterval MedianOf(const std::vector<double>& samples);

// Of over[i] / under[i].
MedianInterval RatioOf(const std::vector<double>& over, const std::vector<double>& under);

}  // namespace kiln
