#include "backends/vendor/paired_timing.h"

#include <algorithm>
#include <future>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cpu/cores.h"
#include "backends/measure/kernel.h"
#include "backends/runner/pool.h"
#include "backends/vendor/stock_pipeline.h"
#include "backends/workers/scratch_folder.h"
#include "lang/base/median.h"
#include "lang/base/random.h"
#include "lang/text/serialize.h"

namespace kiln {
namespace {

constexpr int kResamples = 1000;

// Returns as many random elements of `samples` as there are samples, drawn with replacement.
std::vector<double> Drawn(const std::vector<double>& samples, Engine& engine) {
  std::vector<double> drawn;
  for (size_t i = 0; i < samples.size(); ++i) drawn.push_back(samples[engine() % samples.size()]);
  return drawn;
}

// Returns `median` with its 95% interval: the quantiles 2.5% and 97.5% of 1000 results of `draw`, each computed from
// samples that were drawn at random.
template <typename Draw>
MedianInterval Bootstrap(double median, const Draw& draw) {
  std::vector<double> drawn;
  for (int i = 0; i < kResamples; ++i) drawn.push_back(draw());
  std::sort(drawn.begin(), drawn.end());
  return {median, drawn[kResamples * 25 / 1000], drawn[kResamples * 975 / 1000]};
}

}  // namespace

absl::StatusOr<KernelObject> BuildKernel(const Program& original, const Program& scheduled,
                                         BuilderPool& builders, bool contract, const Policies& policies) {
  const BuildResult built = builders
                                .Submit({.program = Serialize(scheduled),
                                         .contract = contract,
                                         .policies = policies,
                                         .limits = {.seconds = 120}})
                                .get();
  if (!built.ok()) return absl::InternalError(built.error);
  return KernelOf(scheduled, built, "kernel", TolerancesOf(original), RangesOf(original));
}

absl::StatusOr<KernelObject> StockKernel(absl::string_view mlir_text, const Program& original) {
  const auto codegen = Codegen::Create(Host());
  if (!codegen.ok()) return codegen.status();
  auto shared = CompileStockPipeline(mlir_text, **codegen);
  if (!shared.ok()) return shared.status();
  return KernelObject{.shared_object = *std::move(shared),
                      .symbol = "baseline",
                      .params = ParamsOf(original, TolerancesOf(original), RangesOf(original))};
}

absl::StatusOr<RunResult> RunAlone(RunRequest request, const std::string& runner_path,
                                   const RunWatch& watch) {
  auto runners = RunnerPool::Start(
      {.runner_path = runner_path, .cores = {ShareCores(UsableCores(), request.threads).timed}});
  if (!runners.ok()) return runners.status();
  std::future<RunResult> future = (*runners)->Submit(std::move(request));
  if (watch) watch([&] { (*runners)->Interrupt(); });
  RunResult result = future.get();
  if (watch) watch(nullptr);
  if (result.status == RunStatus::kOk) return result;
  if (result.status == RunStatus::kInterrupted && watch) return absl::CancelledError("interrupted");
  return absl::Status(
      result.status == RunStatus::kLoadFailed ? absl::StatusCode::kNotFound : absl::StatusCode::kInternal,
      absl::StrCat(RunStatusName(result.status), ": ", result.detail));
}

absl::Status CompareWith(const KernelObject& trusted, const std::string& folder, RunRequest* to_compare,
                         const std::string& runner_path) {
  RunRequest& request = *to_compare;
  request.reference = absl::StrCat(folder, "/outputs");
  RunRequest once;
  once.kernel = trusted;
  once.timing.runs = 0;
  once.write_reference_to = request.reference;
  once.data_seed = request.data_seed;
  if (request.stress.sets > 0) {
    request.stress.reference = absl::StrCat(request.reference, "-wide");
    once.stress = {.sets = request.stress.sets, .write_reference_to = request.stress.reference};
  }
  once.limits = request.limits;
  return RunAlone(std::move(once), runner_path).status();
}

absl::StatusOr<RunResult> RunPaired(const KernelObject& trusted, RunRequest request,
                                    const std::string& runner_path) {
  const auto scratch = ScratchFolder::Make();
  if (!scratch.ok()) return scratch.status();
  const absl::Status compared = CompareWith(trusted, (*scratch)->path(), &request, runner_path);
  return compared.ok() ? RunAlone(std::move(request), runner_path) : compared;
}

MedianInterval MedianOf(const std::vector<double>& samples) {
  Engine engine({1});
  return Bootstrap(Median(samples), [&] { return Median(Drawn(samples, engine)); });
}

MedianInterval RatioOfMedians(const std::vector<double>& over, const std::vector<double>& under) {
  Engine engine({1});
  return Bootstrap(Median(over) / Median(under),
                   [&] { return Median(Drawn(over, engine)) / Median(Drawn(under, engine)); });
}

MedianInterval RatioOf(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(over.size(), under.size()); ++i) ratios.push_back(over[i] / under[i]);
  return MedianOf(ratios);
}

}  // namespace kiln
