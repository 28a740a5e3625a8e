// Begins runs of the tuner, resumes them from the records and the state in the store, and makes rows of the store from
// trials.
#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "build_info.h"
#include "lang/base/phase.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "search/cost/xgboost_model.h"
#include "search/run/run_key.h"
#include "search/run/tuner.h"
#include "trace/text.h"

namespace kiln::internal {

absl::Status Tuner::BeginOrResume() {
  started_ = clock_.Seconds();
  std::vector<const std::vector<Trace>*> sketches;
  for (Task& task : tasks_) {
    sketches.push_back(&task.space->sketches);
    const std::string hash = ToString(HashOf(task.tuned->program));
    const auto workload = store_.PutWorkload(hash, task.tuned->name, ToString(task.tuned->program));
    if (!workload.ok()) return workload.status();
    task.workload = *workload;
  }
  const auto target_row = store_.PutTarget(TargetText(target_), target_.fingerprint);
  if (!target_row.ok()) return target_row.status();
  target_row_ = *target_row;

  const std::string key = RunKey(tasks_in_, sketches, target_, options_);
  const auto unfinished = store_.FindUnfinishedRun(key);
  if (!unfinished.ok()) return unfinished.status();
  RunState state;
  state.tasks.resize(tasks_.size());
  if (*unfinished) {
    absl::StatusOr<RunState> parsed = ParseRunState((*unfinished)->state);
    if (!parsed.ok()) return parsed.status();
    state = *std::move(parsed);
    run_ = (*unfinished)->id;
  }
  const absl::Status recalled = Recall(unfinished->has_value(), state);
  if (!recalled.ok() || *unfinished) return recalled;

  const absl::StatusOr<RunState> initial = StateNow();
  if (!initial.ok()) return initial.status();
  RunRow run;
  run.command = key;
  run.options = OptionsText(options_, tasks_in_);
  run.seed = options_.seed;
  run.kiln_version = KILN_VERSION;
  run.llvm_version = options_.llvm_version;
  run.xgboost_version = XgboostVersion();
  run.started = clock_.WallMillis();
  run.state = Serialize(*initial);
  const auto begun = store_.BeginRun(run);
  if (begun.ok()) run_ = *begun;
  return begun.status();
}

// Loads the tasks' records from the store into the history: first those of earlier runs, task by task, if they were
// measured with the same state of the caches; then those of this run in the order of measuring. For a task that is
// timed as within a model, times alone are set aside. Then restores the model and the strategies from `state`.
absl::Status Tuner::Recall(bool resumed, const RunState& state) {
  const Phase phase("recall");
  std::vector<RecordRow> earlier, own;
  for (size_t t = 0; t < tasks_.size(); ++t) {
    Task& task = tasks_[t];
    const auto records = store_.Records(task.workload, target_row_);
    if (!records.ok()) return records.status();
    const int64_t newest = records->empty() ? 0 : records->back().id;
    task.known_records = resumed ? state.tasks[t].known_records : newest;
    task.in_model = options_.in_model || (resumed ? state.tasks[t].in_model : HasTimesInModel(*records));
    for (RecordRow record : *records) {
      if (resumed && record.run == run_) {
        own.push_back(std::move(record));
      } else if (record.id <= task.known_records && record.flags.cold == options_.cold &&
                 (task.in_model || !record.flags.in_model)) {
        record.task = static_cast<int>(t);
        earlier.push_back(std::move(record));
      }
    }
  }
  std::sort(own.begin(), own.end(), [](const RecordRow& a, const RecordRow& b) { return a.id < b.id; });
  const size_t num_earlier = earlier.size();
  earlier.insert(earlier.end(), own.begin(), own.end());
  for (size_t i = 0; i < earlier.size(); ++i) {
    if (Stopped()) return absl::CancelledError("stopped");
    Remember(earlier[i], i >= num_earlier);
  }
  for (size_t t = 0; t < tasks_.size(); ++t)
    if (tasks_[t].in_model) StartFromAside(static_cast<int>(t));
  news_ = !history_.empty();
  last_task_ = state.last_task;
  spent_before_ = state.seconds;
  trained_ = state.trained;
  informed_ = informed_ || trained_;
  raced_ = state.raced;
  whole_trials_ = state.whole_trials;
  whole_seconds_ = state.whole_seconds;
  if (trained_) {
    const absl::Status loaded = model_->Load(state.model);
    if (!loaded.ok()) return loaded;
  }
  return RestoreStrategies(resumed, state);
}

// Returns true if the search of a model moved a task with these records into the model: then this one goes on so.
bool Tuner::HasTimesInModel(const std::vector<RecordRow>& records) const {
  return options_.in_place && !options_.cold && absl::c_any_of(records, [](const RecordRow& record) {
           return record.flags.in_model && CanBeBest(record);
         });
}

// Adds a record to the history and, if it is of this run, to the trials of its task. A record from a race only advances
// the number of the next trial. A record of another space counts as a trial but is left out of the history.
void Tuner::Remember(const RecordRow& record, bool of_this_run) {
  Task& task = tasks_[record.task];
  const bool aside = record.flags.in_model != task.in_model;
  const int group = aside ? history_.Aside(record.task) : record.task;
  if (of_this_run) task.next_trial = std::max(task.next_trial, record.trial + 1);
  if (record.flags.race) return;
  if (of_this_run) {
    ++task.trials;
    if (record.status != outcome::kOk) ++task.failures[record.status];
    if (!aside) NoteRound(record.task, record.round);
  }
  const absl::StatusOr<Candidate> candidate = CandidateOfText(record.trace, task.space->sketches);
  if (!candidate.ok()) return;  // the trace belongs to another space
  history_.hashes(group).insert(record.program_hash);
  const absl::StatusOr<Point> point = PointOf(*task.space, prefilter_, *candidate);
  if (!point.ok()) return;
  history_.Add({group, *candidate, record.id,
                record.status == outcome::kOk ? Seconds(record) : std::numeric_limits<double>::infinity(),
                record.lower_bound},
               point->features);
  if (of_this_run && !aside) NoteRound(record.task, record.round);
}

// Starts the strategy of each task, or restores its saved state if the run is resumed. Marks tasks whose strategy fails
// as failed, except with kCancelled or kInvalidArgument, which it returns. Returns an error if no task is left.
absl::Status Tuner::RestoreStrategies(bool resumed, const RunState& state) {
  for (size_t t = 0; t < tasks_.size(); ++t) {
    const TaskRunState& saved = state.tasks[t];
    tasks_[t].round = saved.round;
    tasks_[t].exhausted = saved.exhausted;
    tasks_[t].in_place = saved.in_place;
    tasks_[t].slower = saved.slower;
    if (!tasks_[t].failed.empty()) continue;
    Strategy& strategy = *tasks_[t].strategy;
    // Restores a strategy only if the run saved its state. A strategy that failed to start saved none: it starts, and
    // fails, again.
    const bool begun = resumed && (saved.round > 0 || !saved.strategy.chains.empty());
    const absl::Status status = begun ? strategy.Restore(saved.strategy) : strategy.Start();
    if (status.ok()) continue;
    tasks_[t].strategy = nullptr;
    if (const absl::Status stopped = Fail(tasks_[t], status); !stopped.ok()) return stopped;
  }
  return SomeTaskIsLeft();
}

absl::StatusOr<RunState> Tuner::StateNow() const {
  RunState state;
  for (const Task& task : tasks_) {
    state.tasks.push_back({task.round, task.exhausted, task.known_records,
                           task.strategy != nullptr ? task.strategy->Save() : StrategyState(), task.in_place,
                           task.slower, task.in_model});
  }
  state.last_task = last_task_;
  state.seconds = Elapsed();
  state.trained = trained_;
  state.raced = raced_;
  state.whole_trials = whole_trials_;
  state.whole_seconds = whole_seconds_;
  if (!trained_) return state;
  absl::StatusOr<std::string> model = model_->Save();
  if (!model.ok()) return model.status();
  state.model = *std::move(model);
  return state;
}

RecordRow Tuner::RowOf(int task, const Trial& trial) {
  Task& t = tasks_[task];
  const Trace trace = WithDecisions(trial.point.replayed);
  RecordRow row;
  row.workload = t.workload;
  row.target = target_row_;
  row.task = task;
  row.round = t.round;
  row.trial = t.next_trial++;
  row.sketch = SketchText(trace);
  row.trace = Print(trace);
  row.program_hash = trial.hash;
  row.samples = trial.result.samples;
  row.raw_samples = trial.result.raw_samples;
  row.status = trial.result.status;
  row.error = trial.result.error;
  row.lower_bound = trial.result.lower_bound;
  row.flags = trial.result.flags;
  row.verified = trial.result.ok() && trial.result.verified;
  row.facts = trial.result.facts;
  row.assumptions = AssumptionsOf(trace.steps);
  row.created = clock_.WallMillis();
  return row;
}

}  // namespace kiln::internal
