// A program tuned in this process, and what was found timed in turns with other kernels: in one process, on
// the core of timed runs, never at the same time as anything else of ours.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/cores.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/measurer.h"
#include "backends/runner/pool.h"
#include "lang/analysis/cost.h"
#include "lang/serialize.h"
#include "modules/space.h"
#include "search/database/memory_store.h"
#include "search/tune.h"

namespace kiln {

inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

inline double Least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

// With the default space and a store of its own. kFailedPrecondition: no candidate ran.
inline absl::StatusOr<TuneResult> TuneAlone(const Program& program, int trials, uint64_t seed,
                                            CpuMeasurer& measurer) {
  const std::string text = DefaultSpace(measurer.target());
  const absl::StatusOr<Space> space = ParseSpace(text);
  if (!space.ok()) return space.status();
  TuneOptions options;
  options.trials = trials;
  options.seed = seed;
  options.sketches.space = text;
  options.threads = static_cast<int>(UsableCores().size());
  const auto store = MakeMemoryStore();
  auto results =
      Tune({{program.name, program, Flops(program)}}, *space, measurer.target(), options, measurer, *store);
  if (!results.ok()) return results.status();
  if ((*results)[0].record == 0) return absl::FailedPreconditionError("no candidate ran");
  return std::move((*results)[0]);
}

inline absl::StatusOr<KernelObject> BuildKernel(const Program& program,
                                                const std::vector<Tolerance>& tolerances,
                                                CpuMeasurer& measurer) {
  const BuildResult built = measurer.builders().Submit({.program = Serialize(program)}).get();
  if (!built.ok()) return absl::InternalError(built.error);
  return KernelOf(program, built, "kernel", tolerances);
}

// On `runner_path`; empty: beside the running executable.
inline absl::StatusOr<RunResult> RunAlone(RunRequest request, const std::string& runner_path = "") {
  const auto path = runner_path.empty() ? FindRunner() : absl::StatusOr<std::string>(runner_path);
  if (!path.ok()) return path.status();
  auto runners = RunnerPool::Start({.runner_path = *path, .cores = {ShareCores(UsableCores(), 1).timed}});
  if (!runners.ok()) return runners.status();
  request.limits.seconds = 600;
  RunResult result = (*runners)->Submit(std::move(request)).get();
  if (result.status == RunStatus::kOk) return result;
  return absl::InternalError(absl::StrCat(RunStatusName(result.status), ": ", result.detail));
}

}  // namespace kiln
