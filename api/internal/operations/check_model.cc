#include "api/internal/operations/check_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/internal/model/whole.h"
#include "api/internal/spaces/named_space.h"
#include "backends/cpu/cores.h"
#include "backends/model/check_memory.h"
#include "lang/base/random.h"
#include "lang/graph/with_doubles.h"
#include "lang/model/plan_calls.h"
#include "lang/program/layout.h"
#include "lang/program/scalar.h"
#include "lang/reference/trial_data.h"
#include "search/model/default_schedules.h"

namespace kiln::api {
namespace {

// The largest error that a result may have, relative to its largest element: 1000 roundings (kUnits) of the model's
// least exact float type, or, if that is more, 20 times (kChanges) the change of this result when each input and
// constant changes by one such rounding.
constexpr double kUnits = 1000, kChanges = 20;
constexpr int kDrawsForDoubles = 20;  // draws for each schedule in f64: it runs only once or twice

// Draws floats for a parameter. Inputs lie between -1 and 1. Constants of several dimensions lie within +-sqrt(6 /
// fan-in), so that values neither grow nor shrink from layer to layer (He et al., 2015). The fan-in is taken to be the
// number of elements divided by the largest dimension. Constant vectors and scalars are taken to be scales, shifts and
// variances: from 0.5 to 1.5.
std::string DrawFloats(const Program& p, Id id, Dice& dice) {
  const auto shape = p.Dims(p.buffers[id].shape);
  const int64_t elements = ElementsOf(p, id);
  double low = 0.5, high = 1.5;
  if (p.buffers[id].role != Role::kConstant) {
    low = -1, high = 1;
  } else if (shape.size() > 1) {
    int64_t most = 1;
    for (const Extent extent : shape) most = std::max(most, extent.UpperBound());
    high = std::sqrt(6.0 / static_cast<double>(std::max<int64_t>(elements / most, 1)));
    low = -high;
  }
  constexpr int64_t kSteps = 1 << 20;
  const DType type = p.buffers[id].dtype;
  std::string bytes(BytesOf(p, id), '\0');
  for (int64_t n = 0; n < elements; ++n) {
    const double share = static_cast<double>(dice.Below(kSteps)) / kSteps;
    StoreScalar(type, {.f = RoundFloat(type, low + share * (high - low))}, &bytes[n * SizeOf(type)]);
  }
  return bytes;
}

std::string DrawIntegers(const Program& p, Id id, const ValueRange& range, Dice& dice) {
  const DType type = p.buffers[id].dtype;
  std::string bytes(BytesOf(p, id), '\0');
  for (int64_t n = 0; n < ElementsOf(p, id); ++n)
    StoreScalar(type, {.i = range.min + dice.Below(range.max - range.min + 1)}, &bytes[n * SizeOf(type)]);
  return bytes;
}

// Draws the bytes of each input and constant, in the order of the parameters; the same bytes in each call.
absl::StatusOr<std::vector<std::string>> DrawGiven(const Program& p) {
  const auto ranges = TrialRanges(p);
  if (!ranges.ok()) return ranges.status();
  RandomDice dice(Engine({17}));
  std::vector<std::string> given;
  for (size_t i = 0; i < p.parameters.size(); ++i) {
    const Id id = p.parameters[i];
    const DType type = p.buffers[id].dtype;
    if (!IsGiven(p.buffers[id].role)) continue;
    const ValueRange range = (*ranges)[i].value_or(UnrestrictedTrialData(type));
    given.push_back(IsFloat(type) ? DrawFloats(p, id, dice) : DrawIntegers(p, id, range, dice));
  }
  return given;
}

// Converts numbers of a float type to f64, and makes each larger or smaller by the share `change`, at random. Numbers
// of other types stay as they are.
std::string AsDoubles(DType type, absl::string_view bytes, double change, Dice& dice) {
  if (!IsFloat(type)) return std::string(bytes);
  std::string doubles;
  for (size_t at = 0; at < bytes.size(); at += SizeOf(type)) {
    const double value = LoadScalar(type, bytes.data() + at).f * (1 + (dice.Flip(0.5) ? change : -change));
    doubles.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return doubles;
}

// Compiles the model with all floats as f64, and runs it on given data.
class Doubles {
 public:
  Doubles(const ModelToCheck& check, const Target& target, BuilderPool& builders,
          const ModelBuildOptions& options, Stop& stop)
      : check_(check), target_(target), builders_(builders), options_(options), stop_(stop) {}

  // Returns the results of the model in f64, and its results with each given number changed by the share `change`.
  // kUnimplemented if the model cannot be computed in f64.
  absl::StatusOr<std::pair<CheckedRun, CheckedRun>> Run(const std::vector<absl::string_view>& given,
                                                        double change) {
    auto model = WithDoubles(check_.input.imported);
    if (!model.ok()) return model.status();
    auto tasks = ExtractAllTasks(*model, check_.input.policies, {}, foreign());
    if (!tasks.ok()) return tasks.status();
    const auto scheduled = Schedule(*model, *tasks);
    if (!scheduled.ok()) return scheduled.status();
    std::vector<ForeignTask> foreign_tasks = ForeignTasksOf(check_.input);
    for (ForeignTask& task : foreign_tasks) {
      if (absl::StrContains(task.module, ".bitcast"))
        return absl::UnimplementedError(
            absl::StrCat(task.what, " reads the bits of a float as those of another type"));
      task.doubles = true;
    }
    const auto code = CompileTasks(*scheduled, "doubles", builders_, options_, foreign_tasks);
    if (!code.ok()) return code.status();
    const auto plan = PlanCalls(*model, *tasks, code->needs, foreign());
    if (!plan.ok()) return plan.status();
    const auto library = LinkModel(*model, *plan, *code, "doubles", builders_, options_);
    if (!library.ok()) return library.status();
    const auto run = [&](double by) -> absl::StatusOr<CheckedRun> {
      RandomDice dice(Engine({18}));
      std::vector<std::string> bytes;
      for (const Id id : check_.input.imported.parameters) {
        const Buffer& buffer = check_.input.imported.buffers[id];
        if (IsGiven(buffer.role)) bytes.push_back(AsDoubles(buffer.dtype, given[bytes.size()], by, dice));
      }
      const std::vector<absl::string_view> views(bytes.begin(), bytes.end());
      return RunLibrary({*model, *plan, *code, "doubles", {}, views}, library->shared_object);
    };
    auto exact = run(0);
    if (!exact.ok()) return exact.status();
    auto changed = run(change);
    if (!changed.ok()) return changed.status();
    return std::pair(*std::move(exact), *std::move(changed));
  }

 private:
  absl::Span<const ForeignCall> foreign() const { return check_.input.imported_foreign; }

  // Gives each task a default schedule, because the model without schedules may run for minutes. A task for which no
  // schedule is found stays as it is.
  absl::StatusOr<std::vector<ScheduledTask>> Schedule(const Program& model, const std::vector<Task>& tasks) {
    std::vector<ScheduledTask> scheduled;
    for (const Task& task : tasks)
      scheduled.push_back({.program = task.program, .policies = check_.input.policies});
    // The first of `tasks`: those that may have a schedule.
    const auto searched = ExtractTasks(model, check_.input.policies, {}, foreign());
    if (!searched.ok()) return searched.status();
    std::vector<DefaultTask> asked;
    for (const Task& task : *searched) asked.push_back({.program = task.program});
    const auto space = ResolveSpace({}, target_);
    if (!space.ok()) return space.status();
    auto schedules = DefaultSchedules(
        asked, space->space, target_,
        {.draws = kDrawsForDoubles, .threads = static_cast<int>(UsableCores().size()), .stop = stop_.flag()});
    if (!schedules.ok()) return schedules.status();
    for (size_t t = 0; t < schedules->size(); ++t) {
      if (!(*schedules)[t].trace.steps.empty()) scheduled[t].program = std::move((*schedules)[t].program);
    }
    return scheduled;
  }

  const ModelToCheck& check_;
  const Target& target_;
  BuilderPool& builders_;
  const ModelBuildOptions& options_;
  Stop& stop_;
};

// Returns the relative rounding error of the least exact float type in the model; 0 if it has no floats.
double Unit(const Program& p) {
  double unit = 0;
  for (const Buffer& buffer : p.buffers) {
    const double of_type = buffer.dtype == DType::kBF16  ? 0x1p-8
                           : buffer.dtype == DType::kF16 ? 0x1p-11
                           : buffer.dtype == DType::kF32 ? 0x1p-24
                           : buffer.dtype == DType::kF64 ? 0x1p-53
                                                         : 0;
    unit = std::max(unit, of_type);
  }
  return unit;
}

// Returns the error of a result: the largest difference of an element, divided by the largest element that is wanted.
// Infinity if an infinity or NaN differs.
double ErrorOf(DType type, const std::string& found, const std::string& wanted) {
  double difference = 0, most = 0;
  for (size_t n = 0; n < wanted.size() / sizeof(double); ++n) {
    const double one = LoadScalar(type, found.data() + n * SizeOf(type)).f;
    const double other = LoadScalar(DType::kF64, wanted.data() + n * sizeof(double)).f;
    if (std::isfinite(other)) most = std::max(most, std::abs(other));
    if (one == other || (std::isnan(one) && std::isnan(other))) continue;
    if (!std::isfinite(one) || !std::isfinite(other)) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, std::abs(one - other));
  }
  return difference == 0 ? 0 : difference / std::max(most, std::numeric_limits<double>::min());
}

}  // namespace

absl::StatusOr<ModelAccuracy> CheckModel(const ModelToCheck& check, const Target& target,
                                         BuilderPool& builders, const ModelBuildOptions& options,
                                         Stop& stop) {
  const Program& p = check.input.imported;
  auto drawn = DrawGiven(p);
  if (!drawn.ok()) return drawn.status();
  std::vector<absl::string_view> given;
  size_t constant = 0;
  for (const Id id : p.parameters) {
    if (!IsGiven(p.buffers[id].role)) continue;
    const absl::string_view known =
        p.buffers[id].role == Role::kConstant ? check.constants[constant++] : absl::string_view();
    given.push_back(known.empty() ? absl::string_view((*drawn)[given.size()]) : known);
  }
  const auto run = CheckMemory(
      {check.input.program, check.plan, check.code, check.name, check.tasks, given, check.input.foreign},
      check.library.shared_object, builders, options);
  if (!run.ok()) return run.status();
  ModelAccuracy accuracy{.checked = true, .limit = kUnits * Unit(p)};
  const auto doubles = Doubles(check, target, builders, options, stop).Run(given, Unit(p));
  if (!doubles.ok() && doubles.status().code() != absl::StatusCode::kUnimplemented) return doubles.status();
  if (!doubles.ok() || run->status != 0 || doubles->first.status != 0) {
    accuracy.note = doubles.ok() ? "an assertion of the model fails on drawn data"
                                 : std::string(doubles.status().message());
    return accuracy;
  }
  const auto& [exact, changed] = *doubles;
  for (size_t result = 0, i = 0; i < p.parameters.size(); ++i) {
    const Buffer& buffer = p.buffers[p.parameters[i]];
    if (buffer.role != Role::kOutput) continue;
    if (IsFloat(buffer.dtype)) {
      const double change = ErrorOf(DType::kF64, changed.results[result], exact.results[result]);
      const double error = ErrorOf(buffer.dtype, run->results[result], exact.results[result]);
      const double limit = std::max(kUnits * Unit(p), kChanges * change);
      if (error > limit)
        return absl::FailedPreconditionError(absl::StrFormat(
            "result %s is %.2g of its range away from that of the model in f64; the limit is %.2g",
            p.Text(buffer.name), error, limit));
      accuracy.limit = std::max(accuracy.limit, limit);
      accuracy.error = std::max(accuracy.error, error);
    }
    ++result;
  }
  return accuracy;
}

}  // namespace kiln::api
