// Session::Build: makes one library of a whole model.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/errors.h"
#include "api/internal/json.h"
#include "api/internal/operations/check_model.h"
#include "api/internal/operations/operations.h"
#include "api/internal/spaces/named_space.h"
#include "api/internal/store/open_store.h"
#include "api/internal/store/record.h"
#include "api/internal/tasks.h"
#include "api/internal/workers.h"
#include "backends/codegen/pool_files.h"
#include "backends/cpu/cores.h"
#include "backends/cpu/targets.h"
#include "backends/export/export.h"
#include "backends/export/files.h"
#include "backends/export/model_header.h"
#include "backends/model/bind_weights.h"
#include "backends/model/compile_model.h"
#include "backends/model/prepare_weights.h"
#include "backends/model/weights_file.h"
#include "lang/base/phase.h"
#include "lang/graph/outline.h"
#include "lang/model/plan_calls.h"
#include "lang/model/plan_text.h"
#include "lang/text/hash.h"
#include "search/model/default_schedules.h"
#include "trace/text.h"
#include "validator/model/check_model_plan.h"

namespace kiln::api {
namespace {

// Changes of default schedules after the first draws, for each task on average. A number, not a time: a build
// repeats.
constexpr int64_t kChangesForDefaults = 200;

class ModelBuild {
 public:
  ModelBuild(const SessionOptions& options, const Input& input, const BuildSettings& settings, Stop& stop)
      : options_(options), input_(input), settings_(settings), stop_(stop) {}

  absl::StatusOr<BuildReport> Run() {
    const auto start = std::chrono::steady_clock::now();
    report_ = {.file = input_.shown, .target = settings_.target};
    report_.name = SafeName(settings_.name.empty() ? input_.program.name : settings_.name);
    report_.parameters = ParametersOf(input_);
    if (!input_.boundaries.empty()) {
      const Boundary& b = input_.boundaries.front();
      return Mistake(absl::InvalidArgumentError(
          absl::StrCat(b.location, ": a whole model cannot hold ", b.op, " (", b.reason, ")")));
    }
    const auto target = NamedTarget(settings_.target);
    if (!target.ok()) return Mistake(target.status());
    if (auto status = CheckCompiles(*target); !status.ok()) return status;
    MakeFor(*target, IsHost(*target), &building_);
    if (IsHost(*target)) building_.pieces = std::clamp<int>(static_cast<int>(UsableCores().size()), 2, 64);
    if (auto status = OpenWeights(); !status.ok()) return status;
    if (settings_.check && !IsHost(*target))
      return Mistake(
          absl::InvalidArgumentError("a library for another machine cannot run here; leave out --check"));
    if (auto status = Schedule(*target); !status.ok()) return status;
    auto builders = StartBuilder(options_.database, options_.workers);
    if (!builders.ok()) return builders.status();
    const Stop::Work work(stop_, [&] { (*builders)->Interrupt(); });
    if (auto status = Build(**builders, *target); !status.ok()) return status;
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(report_);
  }

 private:
  // Gives each task the schedule of its fastest record, or a default one.
  absl::Status Schedule(const Target& target) {
    auto tasks = ExtractAllTasks(input_.program, input_.policies);
    if (!tasks.ok()) return tasks.status();
    tasks_ = *std::move(tasks);
    const auto entries = Records();
    if (!entries.ok()) return entries.status();
    std::vector<size_t> without;  // tasks that have no record, and may have a schedule
    for (size_t t = 0; t < tasks_.size(); ++t) {
      const Task& task = tasks_[t];
      report_.tasks.push_back({.name = task.program.name,
                               .hash = ToString(HashOf(task.program)),
                               .occurrences = static_cast<int>(task.occurrences.size()),
                               .schedule = "untuned"});
      scheduled_.push_back({.program = task.program, .policies = input_.policies});
      traces_.emplace_back();
      const RecordEntry* best = BestOf(*entries, task.program, target.fingerprint);
      if (best == nullptr) best = BestOf(*entries, task.program, target.fingerprint, /*cold=*/true);
      if (best != nullptr) {
        if (auto status = UseRecord(t, best->record); !status.ok()) return status;
      } else if (t < input_.tasks.size()) {
        without.push_back(t);
      }
    }
    return UseDefaults(without, target);
  }

  absl::StatusOr<std::vector<RecordEntry>> Records() const {
    if (!std::filesystem::exists(options_.database)) return std::vector<RecordEntry>();
    const auto store = OpenExistingStore(options_.database);
    if (!store.ok()) return store.status();
    return (*store)->BestAll();
  }

  absl::Status UseRecord(size_t t, const RecordRow& record) {
    auto rebuilt = Rebuild(options_.database, record.id);
    if (!rebuilt.ok()) return rebuilt.status();
    BuiltTask& built = report_.tasks[t];
    built.record = record.id;
    built.seconds = Seconds(record);
    built.schedule = "record";
    built.assumptions = rebuilt->assumptions;
    scheduled_[t] = {std::move(rebuilt->scheduled), record.flags.contract, record.flags.policies};
    traces_[t] = record.trace;
    return absl::OkStatus();
  }

  // Draws a schedule for each of these tasks: the best of many by an estimate of cycles.
  absl::Status UseDefaults(const std::vector<size_t>& tasks, Target target) {
    if (tasks.empty()) return absl::OkStatus();
    const Phase phase("proposals");
    target.policies = input_.policies;
    const auto space = ResolveSpace({}, target);
    if (!space.ok()) return space.status();
    std::vector<DefaultTask> asked;
    for (const size_t t : tasks)
      asked.push_back(
          {.program = tasks_[t].program, .occurrences = static_cast<double>(tasks_[t].occurrences.size())});
    const auto schedules =
        DefaultSchedules(asked, space->space, target,
                         {.changes = kChangesForDefaults * static_cast<int64_t>(tasks.size()),
                          .threads = static_cast<int>(UsableCores().size()),
                          .stop = stop_.flag()});
    if (!schedules.ok()) return schedules.status();
    for (size_t i = 0; i < tasks.size(); ++i) {
      const DefaultSchedule& schedule = (*schedules)[i];
      if (schedule.trace.steps.empty()) continue;
      report_.tasks[tasks[i]].schedule = "default";
      report_.tasks[tasks[i]].assumptions = AssumptionsOf(schedule.trace.steps);
      scheduled_[tasks[i]].program = schedule.program;
      traces_[tasks[i]] = Print(schedule.trace);
    }
    return absl::OkStatus();
  }

  absl::Status Build(BuilderPool& builders, const Target& target) {
    const Phase phase("build");
    const auto code = CompileTasks(scheduled_, report_.name, builders, building_);
    if (!code.ok()) return code.status();
    const auto plan = PlanCalls(input_.program, tasks_, code->needs);
    if (!plan.ok()) return plan.status();
    const auto checked = CheckModelPlan(input_.program, *plan);
    if (!checked.ok()) return checked.status();
    const auto library =
        LinkModel(input_.program, *plan, *code, report_.name, builders, building_, Metadata(*plan));
    if (!library.ok()) return library.status();
    report_.calls = static_cast<int>(plan->calls.size());
    report_.arena_bytes = plan->arena_bytes;
    report_.alive_bytes = checked->bytes_alive;
    report_.weights_bytes = plan->weights_bytes;
    if (settings_.check) {
      if (auto status = Check(*plan, *code, *library, builders, target); !status.ok()) return status;
    }
    if (stop_.asked()) return absl::CancelledError("interrupted before anything was written");
    return Write(*plan, *library);
  }

  absl::Status Write(const ModelPlan& plan, const ModelLibrary& library) {
    const auto path = [&](absl::string_view ending) {
      return (std::filesystem::path(settings_.folder) / absl::StrCat(report_.name, ending)).string();
    };
    ModelHeader header{.name = report_.name,
                       .made_for = settings_.target == "host" ? Host().cpu : settings_.target,
                       .takes_threads = library.takes_threads,
                       .notes = AssumptionNotes()};
    if (!settings_.weights.empty() && plan.weights_bytes > 0) {
      const auto offset = Prepare(plan, library, path(".weights"));
      if (!offset.ok()) return offset.status();
      header.weights_offset = *offset;
    }
    std::vector<NewFile> files = {{path(".h"), ModelHeaderText(input_.program, plan, header)},
                                  {path(".a"), library.archive},
                                  {path(".mlir"), library.driver},
                                  {path(".trace"), TraceText(plan)}};
    if (!library.shared_object.empty()) files.push_back({path(".so"), library.shared_object});
    if (library.takes_threads)
      files.push_back({(std::filesystem::path(settings_.folder) / "kiln_pool.c").string(), PoolSource()});
    if (const absl::Status written = WriteFiles(settings_.folder, files); !written.ok()) return written;
    for (const NewFile& file : files) report_.files.push_back(file.path);
    if (header.weights_offset > 0) report_.files.push_back(path(".weights"));
    return absl::OkStatus();
  }

  absl::Status Check(const ModelPlan& plan, const TaskObjects& code, const ModelLibrary& library,
                     BuilderPool& builders, const Target& target) {
    ModelToCheck check{.original = input_.program,
                       .model = input_.program,
                       .plan = plan,
                       .code = code,
                       .library = library,
                       .name = report_.name,
                       .policies = input_.policies};
    for (const BuiltTask& task : report_.tasks) check.tasks.push_back(task.name);
    for (const WeightTensor* tensor : given_) check.constants.push_back(tensor->bytes);
    auto accuracy = CheckModel(check, target, builders, building_, stop_);
    if (!accuracy.ok()) return accuracy.status();
    report_.accuracy = *std::move(accuracy);
    return absl::OkStatus();
  }

  // What the library says of itself, for those who load it.
  std::string Metadata(const ModelPlan& plan) const {
    return Json{{"name", report_.name},
                {"weights_bytes", plan.weights_bytes},
                {"arena_bytes", plan.arena_bytes},
                {"alignment", kModelAlignment},
                {"parameters", JsonOf(report_.parameters)}}
        .dump();
  }

  // Prepares the weights of the file that the user gave. Returns their offset in the new file.
  absl::StatusOr<int64_t> Prepare(const ModelPlan& plan, const ModelLibrary& library,
                                  const std::string& path) {
    std::vector<absl::string_view> constants;
    for (const WeightTensor* tensor : given_) constants.push_back(tensor->bytes);
    std::error_code error;  // an error shows when the file is written
    std::filesystem::create_directories(settings_.folder, error);
    return PrepareWeights(library.shared_object, report_.name, constants, plan.weights_bytes, path);
  }

  // Opens the file of weights, and finds a tensor for each constant.
  absl::Status OpenWeights() {
    if (settings_.weights.empty()) return absl::OkStatus();
    if (settings_.target != "host")
      return Mistake(absl::InvalidArgumentError(
          "weights are prepared for this machine only; leave out --weights, and call NAME_prepare there"));
    auto file = WeightsFile::Open(settings_.weights);
    if (!file.ok()) return Mistake(file.status());
    weights_.emplace(*std::move(file));
    auto bound = BindWeights(input_.program, input_.arguments, *weights_);
    if (!bound.ok()) return Mistake(bound.status());
    given_ = *std::move(bound);
    return absl::OkStatus();
  }

  std::string AssumptionNotes() const {
    std::vector<std::string> lines;
    if (input_.simplified.folded > 0)
      lines.push_back(
          absl::StrCat("Scales and shifts of ", input_.simplified.folded,
                       " sums are folded into their constants (policy fold-affine): they round otherwise."));
    for (const BuiltTask& task : report_.tasks) {
      if (!task.assumptions.empty())
        lines.push_back(absl::StrCat("Assumed in ", task.name, ": ", task.assumptions));
    }
    return absl::StrJoin(lines, "\n");
  }

  // The calls, the memory, and the trace of each task under its hash.
  std::string TraceText(const ModelPlan& plan) const {
    std::vector<std::string> names;
    for (const BuiltTask& task : report_.tasks) names.push_back(task.name);
    std::string text =
        absl::StrCat("kiln.model v1 ", report_.name, "\n\n", CallsText(input_.program, plan, names), "\n",
                     MemoryText(input_.program, plan));
    for (size_t t = 0; t < names.size(); ++t)
      absl::StrAppend(&text, "\ntask ", report_.tasks[t].hash, " ", names[t], " ", report_.tasks[t].schedule,
                      "\n", traces_[t]);
    return text;
  }

  const SessionOptions& options_;
  const Input& input_;
  const BuildSettings& settings_;
  Stop& stop_;
  ModelBuildOptions building_;
  std::optional<WeightsFile> weights_;
  std::vector<const WeightTensor*> given_;  // for each constant, in weights_
  std::vector<Task> tasks_;                 // of ExtractAllTasks
  std::vector<ScheduledTask> scheduled_;    // by task
  std::vector<std::string> traces_;         // by task; empty if it has no record
  BuildReport report_;
};

}  // namespace

absl::StatusOr<BuildReport> BuildModel(const SessionOptions& options, const Input& input,
                                       const BuildSettings& settings, Stop& stop) {
  return ModelBuild(options, input, settings, stop).Run();
}

}  // namespace kiln::api
