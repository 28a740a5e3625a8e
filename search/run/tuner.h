// The class Tuner: the state and the steps of a tuning run. It is private to the sources that implement tune.h: tune.cc
// (the loop), resume.cc (begin, resume and record), finals.cc (the race at the end), whole.cc (runs of the whole model)
// and tuner_report.cc (progress). Other code uses tune.h.
#pragma once

#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "search/propose/measured_history.h"
#include "search/propose/stratified_prior.h"
#include "search/run/run_state.h"
#include "search/run/tune.h"

namespace kiln::internal {

// A program to measure (candidate, hash and replayed point), and its result.
struct Trial {
  Candidate candidate;
  std::string hash;
  Point point;
  MeasureResult result;
  bool proven = false;  // proven equal to the original; finalists only
  double seconds() const {
    RecordRow row;
    row.samples = result.samples;
    return result.ok() ? Seconds(row) : std::numeric_limits<double>::infinity();
  }
};

struct Task {
  const TuneTask* tuned = nullptr;
  std::unique_ptr<SearchSpace> space;
  std::unique_ptr<Strategy> strategy;
  std::vector<Candidate> start;  // to measure first
  RowId workload = 0;
  int round = 0, trials = 0, next_trial = 0;
  bool exhausted = false;
  std::vector<double> best;          // seconds after each round of this run
  std::vector<int> trials_by_round;  // trials of this run up to and including each round
  RowId known_records = 0;
  std::map<std::string, int> failures;
  std::set<RowId> refused;  // records of finalists that failed in the race
  std::string failed;       // why the task cannot be searched; empty if it can
  double in_place = 0;      // seconds within the whole model; 0 if unknown
  double slower = 1;        // in_place divided by the time alone, within limits
  bool in_model = false;    // its programs are timed as within a model
};

class Tuner {
 public:
  Tuner(const std::vector<TuneTask>& tasks, const SpaceFunction& space, const Target& target,
        const TuneOptions& options, Measurer& measurer, Store& store)
      : tasks_in_(tasks),
        space_(space),
        target_(target),
        options_(options),
        measurer_(measurer),
        store_(store),
        clock_(options.clock != nullptr ? *options.clock : system_clock_),
        pool_(std::max(1, options.threads)),
        history_(static_cast<int>(tasks.size())),
        tasks_(tasks.size()) {}

  absl::StatusOr<std::vector<TuneResult>> Run();

 private:
  absl::Status MakeSketches();
  // Adds the traces that are to be measured first to the tasks that they fit. Ignores a task's own traces that do not
  // fit. Returns an error if a trace of the options fits no task.
  absl::Status TakeStarts();
  absl::Status TakeStart(Task& task, const Trace& trace);
  absl::Status BeginOrResume();
  absl::Status Recall(bool resumed, const RunState& state);
  bool HasTimesInModel(const std::vector<RecordRow>& records) const;
  void Remember(const RecordRow& record, bool of_this_run);
  absl::Status RestoreStrategies(bool resumed, const RunState& state);
  bool UsesModel() const;
  // Marks a task as failed with the reason `why`; the other tasks continue. If `why` is kCancelled or kInvalidArgument,
  // only returns it, which stops the run.
  absl::Status Fail(Task& task, const absl::Status& why);
  absl::Status SomeTaskIsLeft() const;
  int RoundSize(int task) const;
  absl::Status Learn();
  absl::Status Round(int task);
  ProposalContext ProposalContextOf(int task) const;
  std::vector<Point> Centres(int task) const;  // the best measured programs, whose neighbours are tried
  std::optional<StratifiedPrior> StratifiedPriorFor(int task, const BatchOptions& batch) const;
  absl::StatusOr<std::vector<Trial>> Choose(int task);
  std::vector<int> LeastMeasured(int task) const;
  absl::Status Measure(int task, std::vector<Trial>& batch);
  absl::Status Record(int task, const std::vector<Trial>& batch);
  absl::StatusOr<std::optional<double>> Accuracy(const std::vector<Trial>& batch) const;
  RoundLog LogOf(int task, const std::vector<Trial>& batch, std::optional<double> accuracy);
  void Report(int task, const RoundLog& log) const;
  std::vector<TaskStanding> Standings() const;
  std::optional<int> NextTask() const;
  bool WholeIsDue() const;
  absl::Status RunWhole();
  void MoveIntoModel();
  // From now on, programs of the task are timed as within a model, first those that were fastest alone.
  void MoveIntoModel(int task);
  void StartFromAside(int task);
  // Takes the times alone of tasks back that moved, but of which no program then ran.
  void MoveBack();
  std::vector<double> MinuteGains() const;
  // Returns why a task gets no further round ("failed", "exhausted", "roofline" or "gain"), or an empty text if it may
  // get one.
  absl::string_view Ended(int task) const;
  void NoteRound(int task, int round);
  RecordRow RowOf(int task, const Trial& trial);
  absl::Status RaceAndFinish();
  absl::StatusOr<std::vector<const Measured*>> ByModel(int task, const std::vector<const Measured*>& fastest);
  absl::StatusOr<std::vector<Trial>> Race(int task);
  absl::StatusOr<std::vector<Trial>> RaceUntilOneRuns(int task);
  std::vector<MeasureResult> RaceUntilQuiet(const std::vector<MeasureRequest>& requests,
                                            const std::vector<double>& searched) const;
  double SearchedSeconds(int task, const RecordRow& raced) const;
  absl::StatusOr<std::vector<TuneResult>> Results(bool interrupted);

  bool Stopped() const { return options_.stop != nullptr && *options_.stop; }
  double Elapsed() const { return spent_before_ + clock_.Seconds() - started_; }
  int TotalTrials() const {
    int total = 0;
    for (const Task& task : tasks_) total += task.trials;
    return total;
  }
  bool BudgetSpent() const {
    return TotalTrials() >= options_.trials || (options_.seconds > 0 && Elapsed() >= options_.seconds);
  }
  MeasureRequest RequestOf(int task, const Point& point) const {
    const double best = history_.best_seconds(task);
    return {.task = task,
            .original = &tasks_in_[task].program,
            .scheduled = &point.replayed.program(),
            .best_seconds = std::isfinite(best) ? best : 0,
            .in_model = tasks_[task].in_model};
  }
  absl::StatusOr<RunState> StateNow() const;

  const std::vector<TuneTask>& tasks_in_;
  const SpaceFunction& space_;
  const Target& target_;
  const TuneOptions& options_;
  Measurer& measurer_;
  Store& store_;
  SystemClock system_clock_;
  const Clock& clock_;
  ThreadPool pool_;
  MeasuredHistory history_;
  std::unique_ptr<CostModel> model_;
  Prefilter prefilter_;
  std::vector<Task> tasks_;
  RowId run_ = 0, target_row_ = 0;
  bool informed_ = false;  // the model knows something: it was trained or has a base
  int last_task_ = -1;
  PhaseSeconds spent_;               // since the last stored round
  MeasurerSeconds measured_before_;  // Measurer::Spent at the last stored round
  std::atomic<int64_t> feature_nanos_{0};
  bool trained_ = false, raced_ = false;
  bool news_ = false;  // there are measurements that the model has not learned from
  double spent_before_ = 0, started_ = 0;
  int whole_trials_ = 0;      // trials of all tasks at the last run of the whole model; 0: none yet
  double whole_seconds_ = 0;  // seconds that all runs of the whole model took
};

}  // namespace kiln::internal
