#include "backends/measure/reference.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/measure/chosen_elements.h"
#include "backends/measure/kernel.h"
#include "backends/runner/compare.h"
#include "backends/runner/data.h"
#include "backends/workers/frames.h"
#include "lang/program/layout.h"
#include "lang/text/serialize.h"
#include "search/measure/measurer.h"
#include "spdlog/spdlog.h"
#include "validator/numeric/tolerance.h"

namespace kiln {
namespace {

constexpr int kChosen = 64;  // elements of each output
constexpr double kWideSeconds = 5;
constexpr int kRunsOfASet = 3;
// The time limit of the interpreter for an original that ran: kMinCheckSeconds, or the time of kRunsOfACheck runs of
// the original if that is longer.
constexpr double kMinCheckSeconds = 2, kRunsOfACheck = 2;

std::string InWords(const Program& program, const Element& at) {
  return absl::StrCat(program.Text(program.buffers[at.buffer].name), "[", absl::StrJoin(at.index, ", "), "]");
}

}  // namespace

References::References(ReferenceOptions options, BuilderPool* builders,
                       std::function<RunResult(const RunRequest&)> run)
    : options_(std::move(options)), builders_(builders), run_(std::move(run)) {}

const Reference& References::For(const Program& original) {
  std::unique_ptr<Reference>& made = made_[HashOf(original)];
  if (made == nullptr) made = std::make_unique<Reference>(Reference{.interrupted = true});
  if (made->interrupted) *made = Make(original);  // in place, because earlier callers keep the pointer
  return *made;
}

Reference References::Make(const Program& original) {
  Reference reference;
  reference.tolerances = TolerancesOf(original);
  reference.ranges = RangesOf(original, options_.data_seed);
  BuildAndRun(original, &reference);
  if (!reference.failure.empty())
    spdlog::error("the untransformed program {}: {}", original.name, reference.error);
  return reference;
}

Checked References::Check(const Program& original, const Program& scheduled, const Reference& reference,
                          const std::string& file, double seconds, bool partial) const {
  const Deadline deadline = SecondsFromNow(seconds);
  ElementsOptions elements{
      .of_each_output = kChosen, .data_seed = options_.data_seed, .ranges = reference.ranges};
  elements.stop = [&] { return SecondsFromNow(0) > deadline || options_.interrupted(); };
  Checked checked;
  if (partial) elements.elements = ChooseWritten(scheduled, file, kChosen, options_.data_seed);
  if (partial && elements.elements.empty()) return checked;
  const ChosenElements chosen = EvaluateChosen(original, scheduled, elements);
  const auto wrong = [&](std::string error) {
    checked.error = std::move(error);
    return checked;
  };
  checked.any = chosen.all && chosen.elements.empty();
  std::ifstream outputs(file, std::ios::binary);
  for (const ChosenElement& element : chosen.elements) {
    int64_t start = 0;  // where the output begins in the file
    size_t output = 0;
    for (int n = 0; n < element.param; ++n) {
      if (original.buffers[original.parameters[n]].role != Role::kOutput) continue;
      start += BytesOf(original, original.parameters[n]);
      ++output;
    }
    const DType dtype = original.buffers[original.parameters[element.param]].dtype;
    char wanted[8] = {}, found[8] = {};
    StoreScalar(dtype, element.value, wanted);
    outputs.seekg(start + element.index * SizeOf(dtype));
    if (!outputs.read(found, SizeOf(dtype))) return wrong("its outputs cannot be read");
    const Comparison compared =
        CompareArrays(std::string(ToString(dtype)), found, wanted, 1, reference.tolerances[output]);
    if (!compared.agrees) {
      return wrong(absl::StrCat(InWords(scheduled, element.at), " is ", compared.found,
                                ", but the interpreter says ", compared.wanted));
    }
    checked.any = true;
  }
  if (!chosen.error.empty()) return wrong(chosen.error);
  return checked;
}

void References::BuildAndRun(const Program& original, Reference* reference) {
  BuildRequest build = options_.build;
  build.program = Serialize(original);
  const BuildResult built = builders_->Submit(std::move(build)).get();
  reference->interrupted = built.status == BuildStatus::kInterrupted;
  reference->error = built.error;
  if (built.status == BuildStatus::kBuildFailed) reference->failure = std::string(outcome::kBuildFailed);
  if (!built.ok()) return;

  RunRequest run;
  run.kernel = KernelOf(original, built, options_.build.symbol, reference->tolerances, reference->ranges);
  run.data_seed = options_.data_seed;
  run.timing = {.runs = 0};
  run.limits = {.seconds = options_.run_seconds, .bytes = options_.run_bytes};
  run.write_reference_to = absl::StrCat(options_.folder, "/reference", ++files_);
  const Deadline start = SecondsFromNow(0);
  const RunResult ran = run_(run);
  reference->seconds = std::chrono::duration<double>(SecondsFromNow(0) - start).count();
  reference->error = ran.detail;
  if (ran.status == RunStatus::kTimedOut) {
    spdlog::warn(
        "the untransformed program {} runs longer than {} s: of its candidates, {} elements are compared",
        original.name, options_.run_seconds, kChosen);
    unlink(run.write_reference_to.c_str());
    reference->seconds = 0;
    return;
  }
  reference->interrupted = ran.status == RunStatus::kInterrupted;
  if (ran.status == RunStatus::kInterrupted) return;
  if (ran.status != RunStatus::kOk) {
    reference->failure = std::string(RunStatusName(ran.status));
    return;
  }
  const double seconds = std::max(kMinCheckSeconds, kRunsOfACheck * reference->seconds);
  const Checked checked = Check(original, original, *reference, run.write_reference_to, seconds);
  reference->error = checked.error;
  reference->interrupted = options_.interrupted();
  reference->interpreted = checked.any;
  if (reference->interrupted) return;
  if (reference->error.empty()) {
    if (!reference->interpreted)
      spdlog::warn(
          "the interpreter takes longer than {:.3g} s for an element of {}: its candidates are compared with "
          "the compiled original alone",
          seconds, original.name);
    reference->file = run.write_reference_to;
    if (options_.wide) RunWide(original, run, reference);
  } else {
    reference->failure = std::string(outcome::kWrongResult);
  }
}

void References::RunWide(const Program& original, RunRequest run, Reference* reference) {
  const int affordable = static_cast<int>(kWideSeconds / (kRunsOfASet * reference->seconds));
  run.stress.sets = std::min(StressSets(original), std::max(1, affordable));
  if (run.stress.sets == 0) return;
  run.stress.write_reference_to = absl::StrCat(std::exchange(run.write_reference_to, ""), "-wide");
  const RunResult ran = run_(run);
  reference->interrupted = ran.status == RunStatus::kInterrupted;
  if (ran.status == RunStatus::kOk) {
    reference->stress = {.sets = run.stress.sets, .reference = run.stress.write_reference_to};
    return;
  }
  spdlog::warn("the untransformed program {} is not run with inputs that lie far apart: {}", original.name,
               ran.detail);
  unlink(run.stress.write_reference_to.c_str());
}

}  // namespace kiln
