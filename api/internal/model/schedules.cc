#include "api/internal/model/schedules.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/internal/spaces/named_space.h"
#include "api/internal/store/chosen_records.h"
#include "api/internal/store/open_store.h"
#include "api/internal/store/record.h"
#include "backends/cpu/cores.h"
#include "lang/base/phase.h"
#include "lang/text/hash.h"
#include "trace/text.h"

namespace kiln::api {
namespace {

// The number of changes that the search of default schedules tries after its first draws, per task on average. It is a
// number and not a time, so that each build finds the same schedules.
constexpr int64_t kChangesForDefaults = 200;

class Scheduler {
 public:
  Scheduler(const SessionOptions& options, const Input& input, const Target& target,
            const ScheduleWishes& wishes, Stop& stop)
      : options_(options), input_(input), target_(target), wishes_(wishes), stop_(stop) {}

  absl::StatusOr<ModelSchedules> Run() {
    for (const Boundary& b : input_.file_content.boundaries) {
      if (!b.code.empty()) continue;
      return Mistake(absl::InvalidArgumentError(absl::StrCat(b.location, ": a whole model cannot hold ", b.op,
                                                             " (", b.reason, ")\n  hint: ", b.hint)));
    }
    auto tasks = ExtractAllTasks(input_.program, input_.policies, {}, input_.foreign);
    if (!tasks.ok()) return tasks.status();
    made_.tasks = *std::move(tasks);
    const auto entries = Records();
    if (!entries.ok()) return entries.status();
    std::vector<size_t> without;  // tasks that have no record, and may have a schedule
    for (size_t t = 0; t < made_.tasks.size(); ++t) {
      const Task& task = made_.tasks[t];
      made_.told.push_back({.name = task.program.name,
                            .hash = ToString(HashOf(task.program)),
                            .occurrences = static_cast<int>(task.occurrences.size()),
                            .schedule = "untuned"});
      made_.scheduled.push_back({.program = task.program, .policies = input_.policies});
      made_.traces.emplace_back();
      if (const RowId record = RecordFor(t, *entries); record != 0) {
        if (auto status = UseRecord(options_, record, t, &made_); !status.ok()) return status;
      } else if (t < input_.tasks.size()) {
        without.push_back(t);
      }
    }
    if (auto status = UseDefaults(without); !status.ok()) return status;
    for (const ForeignCall& call : input_.foreign)
      made_.told.push_back({.name = call.name, .schedule = "foreign"});
    return std::move(made_);
  }

 private:
  // Returns the fastest record of each workload, target and state of the caches in the database. Returns none if they
  // are not wanted or there is no database. If wishes_.chosen, sets chosen_ to the records that a race of whole models
  // chose for this model on this target.
  absl::StatusOr<std::vector<RecordEntry>> Records() {
    if (!wishes_.records || !std::filesystem::exists(options_.database)) return std::vector<RecordEntry>();
    const auto store = OpenExistingStore(options_.database);
    if (!store.ok()) return store.status();
    auto entries = (*store)->BestAll();
    if (!entries.ok() || !wishes_.chosen) return entries;
    for (const RecordEntry& entry : *entries) {
      if (entry.target.fingerprint != target_.fingerprint) continue;
      ChosenRecords chosen = LoadChosen(**store, ToString(HashOf(input_.program)), entry.record.target);
      if (!chosen.empty()) chosen_ = std::move(chosen);
    }
    return entries;
  }

  // Returns the id of the record for a task: the one chosen by a race of whole models if the fastest record is still
  // the same as then, else the fastest. 0 means that there is none, or that the race chose a default schedule: the task
  // gets one.
  RowId RecordFor(size_t t, const std::vector<RecordEntry>& entries) const {
    const RowId fastest = FastestFor(t, entries);
    const auto chosen = chosen_.find(made_.told[t].hash);
    return chosen != chosen_.end() && chosen->second.fastest == fastest ? chosen->second.record : fastest;
  }

  // Returns the fastest record that was timed as within a model. If there is none, the fastest one with warm caches,
  // then with cold ones. A search of times within a model begins with the programs that were fastest alone, so it
  // misses none of them.
  RowId FastestFor(size_t t, const std::vector<RecordEntry>& entries) const {
    const Program& task = made_.tasks[t].program;
    const auto best = [&](Caches caches) {
      return BestOf(entries, task, target_.fingerprint, input_.policies, caches);
    };
    for (const Caches caches : {Caches::kInModel, Caches::kWarm, Caches::kCold}) {
      if (const RecordEntry* entry = best(caches)) return entry->record.id;
    }
    return 0;
  }

  // Gives each of these tasks a default schedule without measuring: the one with the fewest estimated cycles among
  // random draws and changes of the best of them (search/model/default_schedules.h). A task for which the validator
  // accepts no draw stays "untuned".
  absl::Status UseDefaults(const std::vector<size_t>& tasks) {
    if (tasks.empty()) return absl::OkStatus();
    const Phase phase("proposals");
    Target target = target_;
    target.policies = input_.policies;
    const auto space = ResolveSpace({}, target);
    if (!space.ok()) return space.status();
    std::vector<DefaultTask> asked;
    for (const size_t t : tasks)
      asked.push_back({.program = made_.tasks[t].program,
                       .occurrences = static_cast<double>(made_.tasks[t].occurrences.size())});
    const auto schedules = DrawDefaults(asked, space->space, target, stop_);
    if (!schedules.ok()) return schedules.status();
    for (size_t i = 0; i < tasks.size(); ++i) {
      const DefaultSchedule& schedule = (*schedules)[i];
      if (schedule.trace.steps.empty()) continue;
      BuiltTask& built = made_.told[tasks[i]];
      built.schedule = "default";
      built.assumptions = AssumptionsOf(schedule.trace.steps);
      made_.scheduled[tasks[i]].program = schedule.program;
      made_.traces[tasks[i]] = Print(schedule.trace);
    }
    return absl::OkStatus();
  }

  const SessionOptions& options_;
  const Input& input_;
  const Target& target_;
  const ScheduleWishes& wishes_;
  Stop& stop_;
  ChosenRecords chosen_;
  ModelSchedules made_;
};

}  // namespace

absl::StatusOr<std::vector<DefaultSchedule>> DrawDefaults(const std::vector<DefaultTask>& tasks,
                                                          const SpaceFunction& space, const Target& target,
                                                          Stop& stop) {
  return DefaultSchedules(tasks, space, target,
                          {.changes = kChangesForDefaults * static_cast<int64_t>(tasks.size()),
                           .threads = static_cast<int>(UsableCores().size()),
                           .stop = stop.flag()});
}

absl::Status UseRecord(const SessionOptions& options, int64_t record, size_t task,
                       ModelSchedules* schedules) {
  auto rebuilt = Rebuild(options.database, record);
  if (!rebuilt.ok()) return rebuilt.status();
  const RecordRow& row = rebuilt->entry.record;
  BuiltTask& built = schedules->told[task];
  built.record = record;
  built.seconds = Seconds(row);
  built.schedule = "record";
  built.assumptions = rebuilt->assumptions;
  schedules->scheduled[task] = {std::move(rebuilt->scheduled), row.flags.contract, row.flags.policies};
  schedules->traces[task] = row.trace;
  return absl::OkStatus();
}

absl::StatusOr<ModelSchedules> ScheduleModel(const SessionOptions& options, const Input& input,
                                             const Target& target, const ScheduleWishes& wishes, Stop& stop) {
  return Scheduler(options, input, target, wishes, stop).Run();
}

}  // namespace kiln::api
