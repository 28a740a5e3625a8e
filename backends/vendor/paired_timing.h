// Times kernels that compute the same, one run of each after the other: in one process, on as many cores as the request
// has threads, and never at the same time as other work of Kiln. `kiln bench` and the benchmarks use it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/builder/pool.h"
#include "backends/runner/runner.h"
#include "lang/program/program.h"

namespace kiln {

// Builds a scheduled program as a kernel. `original` determines the tolerances of its outputs and the ranges of its
// inputs. kInternal, with the reason, if the build fails.
absl::StatusOr<KernelObject> BuildKernel(const Program& original, const Program& scheduled,
                                         BuilderPool& builders, bool contract = true,
                                         const Policies& policies = {});

// Compiles the function of a file with the stock pipeline (stock_pipeline.h). The kernel has the parameters of
// `original`. Errors: those of Codegen::Create and CompileStockPipeline.
absl::StatusOr<KernelObject> StockKernel(absl::string_view mlir_text, const Program& original);

// Runs one request on a runner of its own, at `runner_path` (empty: beside the running executable). `watch` is called
// with a function that ends the run, and with null when that is too late. kNotFound if a kernel could not be loaded;
// kCancelled if the run was ended through `watch`; kInternal, with the reason, if it failed; also the errors of
// RunnerPool::Start.
using RunWatch = std::function<void(std::function<void()> end)>;
absl::StatusOr<RunResult> RunAlone(RunRequest request, const std::string& runner_path = "",
                                   const RunWatch& watch = nullptr);

// Runs `trusted` once, stores its outputs in `folder`, and changes `request` so that the outputs of its kernels are
// compared with them. Does so for the request's stress inputs, too. Errors: those of RunAlone.
absl::Status CompareWith(const KernelObject& trusted, const std::string& folder, RunRequest* request,
                         const std::string& runner_path = "");

// Runs a request as RunAlone does, and compares the outputs of all its kernels with those of `trusted`, which runs once
// before, also for request.stress.sets sets of stress inputs.
absl::StatusOr<RunResult> RunPaired(const KernelObject& trusted, RunRequest request,
                                    const std::string& runner_path = "");

// A median and its 95% interval, from medians of 1000 random samples drawn from the samples (bootstrap), with a fixed
// seed. There must be a sample.
struct MedianInterval {
  double median = 0, low = 0, high = 0;
};
MedianInterval MedianOf(const std::vector<double>& samples);

// Returns the median of the ratios over[i] / under[i], with its interval. Ignores the rest of a longer list.
MedianInterval RatioOf(const std::vector<double>& over, const std::vector<double>& under);

// Returns the median of `over` divided by that of `under`, with its interval. The samples need not be pairs.
MedianInterval RatioOfMedians(const std::vector<double>& over, const std::vector<double>& under);

}  // namespace kiln
