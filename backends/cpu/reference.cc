#include "backends/cpu/reference.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/kernel.h"
#include "backends/runner/compare.h"
#include "backends/runner/data.h"
#include "backends/runner/protocol.h"
#include "lang/element_evaluator.h"
#include "lang/random.h"
#include "lang/serialize.h"
#include "search/measurer.h"
#include "spdlog/spdlog.h"
#include "validator/prover.h"

namespace kiln {
namespace {

constexpr int kChosen = 64;  // elements of each output

std::vector<Id> OutputsOf(const Program& program) {
  std::vector<Id> outputs;
  for (const Id id : program.parameters) {
    if (program.buffers[id].role == Role::kOutput) outputs.push_back(id);
  }
  return outputs;
}

// The corners of an array, then random elements: `count` of them, or all if there are no more.
std::set<int64_t> Choose(absl::Span<const Extent> shape, size_t count, uint64_t seed) {
  int64_t elements = 1;
  for (const Extent& extent : shape) elements *= extent.max;
  count = std::min(count, static_cast<size_t>(elements));
  std::set<int64_t> chosen;
  const size_t free = std::min<size_t>(shape.size(), 5);
  for (size_t bits = 0; bits < size_t{1} << free && chosen.size() < count; ++bits) {
    int64_t flat = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      flat = flat * shape[d].max + (d < free && (bits >> d & 1) != 0 ? shape[d].max - 1 : 0);
    chosen.insert(flat);
  }
  RandomDice dice(Engine({seed}));
  while (chosen.size() < count) chosen.insert(dice.Below(elements));
  return chosen;
}

std::string InWords(const Program& program, Id buffer, int64_t flat) {
  const auto shape = program.Dims(program.buffers[buffer].shape);
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0; flat /= shape[d].max) index[d] = flat % shape[d].max;
  return absl::StrCat(program.Text(program.buffers[buffer].name), "[", absl::StrJoin(index, ", "), "]");
}

}  // namespace

std::string OutcomeOf(RunStatus status) {
  std::string name = RunStatusName(status);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string CheckChosen(const Program& program, const Reference& reference, const std::string& file) {
  std::ifstream found(file, std::ios::binary);
  std::vector<int64_t> starts;
  int64_t start = 0;
  const std::vector<Id> outputs = OutputsOf(program);
  for (const Id id : outputs) {
    starts.push_back(start);
    start += ElementsOf(program, id) * SizeOf(program.buffers[id].dtype);
  }
  for (const ChosenElement& at : reference.chosen) {
    const Buffer& buffer = program.buffers[outputs[at.output]];
    const int64_t size = SizeOf(buffer.dtype);
    char bytes[8] = {};
    found.seekg(starts[at.output] + at.element * size);
    if (!found.read(bytes, size)) return "its outputs cannot be read";
    const std::string dtype(ToString(buffer.dtype));
    const Comparison compared =
        CompareArrays(dtype, bytes, at.wanted.data(), 1, reference.tolerances[at.output]);
    if (!compared.agrees) {
      return absl::StrCat(InWords(program, outputs[at.output], at.element), " is ", compared.found,
                          ", but the interpreter says ", compared.wanted);
    }
  }
  return "";
}

References::References(ReferenceOptions options, BuilderPool* builders,
                       std::function<RunResult(const RunRequest&)> run)
    : options_(std::move(options)), builders_(builders), run_(std::move(run)) {}

const Reference& References::For(const Program& original) {
  std::unique_ptr<Reference>& made = made_[HashOf(original)];
  if (made == nullptr || made->interrupted) made = std::make_unique<Reference>(Make(original));
  return *made;
}

Reference References::Make(const Program& original) {
  Reference reference;
  for (const OutputTolerance& tolerance : ToleranceFor(original))
    reference.tolerances.push_back({.relative = tolerance.relative, .absolute = tolerance.absolute});
  if (absl::Status status = Evaluate(original, &reference); !status.ok()) {
    reference.failure = std::string(outcome::kWrongResult);
    reference.error = absl::StrCat("the interpreter refuses it: ", status.message());
  } else {
    BuildAndRun(original, &reference);
  }
  if (!reference.failure.empty())
    spdlog::error("the untransformed program {}: {}", original.name, reference.error);
  return reference;
}

absl::Status References::Evaluate(const Program& original, Reference* reference) const {
  const auto input = [&](Id id, int64_t index) {
    const auto at = std::find(original.parameters.begin(), original.parameters.end(), id);
    const DType dtype = original.buffers[id].dtype;
    const double value = InputValue(options_.data_seed, static_cast<int>(at - original.parameters.begin()),
                                    std::string(ToString(dtype)), index);
    Scalar scalar;
    IsFloat(dtype) ? void(scalar.f = value) : void(scalar.i = static_cast<int64_t>(value));
    return scalar;
  };
  ElementEvaluator evaluator(original, input);
  const std::vector<Id> outputs = OutputsOf(original);
  for (size_t output = 0; output < outputs.size(); ++output) {
    const Buffer& buffer = original.buffers[outputs[output]];
    for (const int64_t flat : Choose(original.Dims(buffer.shape), kChosen, options_.data_seed + output)) {
      const auto value = evaluator.Evaluate(outputs[output], flat);
      if (!value.ok()) return value.status();
      std::string bytes(static_cast<size_t>(SizeOf(buffer.dtype)), '\0');
      StoreScalar(buffer.dtype, *value, bytes.data());
      reference->chosen.push_back({output, flat, std::move(bytes)});
    }
  }
  return absl::OkStatus();
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
  run.kernel = KernelOf(original, built, options_.build.symbol, reference->tolerances);
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
        original.name, options_.run_seconds, reference->chosen.size());
    unlink(run.write_reference_to.c_str());
    reference->seconds = 0;
    return;
  }
  reference->interrupted = ran.status == RunStatus::kInterrupted;
  if (ran.status == RunStatus::kInterrupted) return;
  if (ran.status != RunStatus::kOk) {
    reference->failure = OutcomeOf(ran.status);
    return;
  }
  reference->error = CheckChosen(original, *reference, run.write_reference_to);
  if (reference->error.empty()) {
    reference->file = run.write_reference_to;
  } else {
    reference->failure = std::string(outcome::kWrongResult);
  }
}

}  // namespace kiln
