// The tuner: searches a space for the fastest schedules of some programs, and keeps everything it measures in
// a store.
//
// Rounds. A run is a sequence of rounds. In each round, the strategy of one task proposes candidates, by default with
// chains whose proposals the model scores (population.h), a batch is selected (batch.h) and measured, the records and
// the run's state are stored together, and the model learns. At the end the fastest programs race each other, so that
// none wins by a lucky sample.
//
// Budgets. Trials (measured candidates, failed ones included) and seconds are limits for all tasks together. A spent
// budget ends a run between rounds only. A task ends early when its space has nothing new left. On request, it also
// ends when it is near its roofline, or when its last trials gained too little.
//
// Tasks. A scheduler gives each round to a task (task_scheduler.h). Tasks with equal programs are tuned once,
// with the sum of their weights.
//
// Determinism. With a measurer that repeats its answers, equal seeds give equal records, bit for bit, for any number of
// threads. The clock decides only when a budget in seconds is spent, the times in records and logs, how often a noisy
// race is repeated, and, in a run with a time limit, whether the whole model runs.
//
// Resuming. A call with the same tasks, sketches, target and options continues the newest unfinished run of the store,
// exactly as that run would have continued. A killed process loses the batch that it was measuring, which is measured
// again, and no acknowledged record. Records of earlier runs with the same state of the caches, finished or not, count
// from the start: the model learns from them, and their programs are not measured again before the race.
//
// Stopping. Set *options.stop; a signal handler may. The current batch is given up, stored records stay, the
// run stays unfinished, and the result says `interrupted`.
//
// Threads. Call Tune from one thread, which calls measurer, store and progress. Proposals use `threads`
// threads.
//
// Errors: those of the store; kInvalidArgument for an unknown strategy, a trace of TuneOptions::start that fits no
// task, and a space that branches on draws or that the strategy cannot search; kDataLoss if the saved state of the run
// cannot be read; kFailedPrecondition if no task has a program that may be measured. A task without such a program is
// left out, and its result says why. A candidate that fails is a record, not an error.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "search/clock.h"
#include "search/cost/cost_model.h"
#include "search/database/store.h"
#include "search/features/kinds.h"
#include "search/measure/measurer.h"
#include "search/measure/noise.h"
#include "search/run/round_log.h"
#include "search/run/task_scheduler.h"
#include "search/strategies/strategy.h"
#include "trace/enumerate.h"

namespace kiln {

namespace proof {
class Prover;
}

struct TuneTask {
  std::string name;
  Program program;
  double flops = 0;             // of one execution, for reports; 0 if unknown
  double weight = 1;            // number of occurrences
  std::string failed = {};      // why the task cannot be tuned and is left out; empty if it can be tuned
  double roofline_seconds = 0;  // lower bound of the time on this machine; 0 if unknown
  // Names of the task's parameters in the imported file, in order. The run stores them, so that its records can be
  // exported later.
  std::vector<std::string> arguments = {};
  // Sketches of the space for this task's program. If they are missing, Tune enumerates the space.
  std::optional<Enumeration> sketches = {};
  std::vector<Trace> start = {};  // traces of this task to measure first, such as its default schedule
  double constant_bytes = 0;      // of its constants; 0 if unknown
};

// The progress of a run, reported after each recorded round: trials, failures, best time, seconds by phase.
struct TuneProgress {
  int task = 0;
  std::string name;
  int round = 0;
  int trials = 0, total_trials = 0;     // trials of this task and of all tasks, in this run
  int batch = 0, failed = 0;            // programs measured in this round, and failures among them
  double best_seconds = 0;              // infinity if nothing ran yet
  double gflops = 0;                    // 0 if the FLOPs are unknown
  std::map<std::string, int> failures;  // number of failures by class, of this task in this run
  std::optional<double> rank_accuracy;  // of the model on this batch, before it learned from it
  Quiet quiet;                          // of the samples of this round
  RoundStats chains;
  PhaseSeconds phases;  // of this round
  double seconds = 0;   // of the run so far, including earlier sessions
};

// Options of the race at the end of a run, in which the fastest programs are measured again in turns. The defaults do
// not depend on the machine. They are guesses.
struct FinalsOptions {
  int fast_enough = 10;  // the model chooses from this many programs for each finalist
  // Programs slower than this factor times the fastest do not take part in the final race: luck cannot explain so large
  // a difference, and slow programs delay the race.
  double far_behind = 3;
  // Limits for repeating a noisy race with the same programs. In a run without a time limit, there are at most
  // `most_races` races, and none begins that would end later than `seconds` after the first began, if it takes as long
  // as the others, or later than `part_of_run` of the run's time if that is longer. In a run with a time limit, only
  // that limit ends the races.
  int most_races = 3;
  double seconds = 30, part_of_run = 0.25;

  bool operator==(const FinalsOptions&) const = default;
};

// A task of a model: its original program, and its fastest scheduled program so far.
struct PlacedTask {
  const Program* original = nullptr;
  const Program* scheduled = nullptr;  // null if nothing ran yet
};

// A function that runs a whole model with the given programs of its tasks. Returns for each task how many seconds one
// execution takes within the model; 0 if unknown.
using RunInPlace = std::function<absl::StatusOr<std::vector<double>>(absl::Span<const PlacedTask>)>;

struct TuneOptions {
  int trials = 1000;
  double seconds = 0;  // 0: no limit
  uint64_t seed = 0;
  // Ends a task once its best time is within this fraction of its roofline (0.1: at most 10% slower). 0, or a roofline
  // that is not known: never.
  double until_roofline = 0;
  // Ends a task once its best time fell by less than this fraction in its last quarter of trials, or in its last 64 if
  // these are more. 0: never.
  double least_gain = 0;
  std::string strategy = "annealed";  // strategies/strategy.h
  StrategyOptions search = {};
  // Traces to measure first, for each task whose program they fit. A trace of a new sketch adds that sketch. It is an
  // error if a trace fits no task.
  std::vector<Trace> start = {};
  Scheduling scheduling = Scheduling::kGradient;
  // Runs the whole model with the best programs so far: after each task had its first round, and again whenever the
  // number of trials has doubled. The scheduler then multiplies a task's weight by its time within the model divided
  // by its time alone, limited to 0.5 .. 5. A task whose constants are far away within the model (whole.cc) is from
  // then on timed as within a model, also in later runs of the store. In a run with a time limit, the model runs only
  // if its earlier runs took at most a tenth of the time that has passed. Errors are ignored, except for kCancelled.
  RunInPlace in_place = nullptr;
  double seconds_per_byte = 0;  // that a core takes to read memory that is in no cache; 0 if unknown
  EnumerateOptions sketches = {};
  int finalists = 3;  // programs that race at the end, plus as many that the model prefers; 0: no race
  FinalsOptions finals = {};
  int threads = 1;
  bool cold = false;  // the measurer times with cold caches; only records of cold runs then count as known
  // All programs are timed as within a model (Caches::kInModel). Those that were fastest alone are measured first.
  bool in_model = false;
  // True if the caller finishes the run (Store::FinishRun), after it has used the results. Until then the same command
  // continues this run.
  bool leaves_open = false;
  std::string command;  // what the user typed; stored with the run and part of its identity
  std::string llvm_version;
  FeatureKind features = FeatureKind::kAnsor;  // what the model sees (KindFor the target)
  std::function<absl::StatusOr<std::unique_ptr<CostModel>>(int dim)> model =
      nullptr;                                     // default: "trees" (search/cost/models.h)
  std::function<Prefilter()> prefilter = nullptr;  // default: validator and features
  // Helps to prove that finalists equal their originals where the algebra does not suffice (validator/proof/proof.h).
  // May be null.
  proof::Prover* prover = nullptr;
  const Clock* clock = nullptr;  // default: the system's
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const TuneProgress&)> progress = nullptr;
};

struct TuneResult {
  std::string name;
  // The time of the best program in seconds: its median in the race, or in its record if there was no race. Infinity if
  // nothing ran.
  double latency = 0;
  Trace trace;          // with its decisions
  Program program;      // scheduled
  RecordFlags flags;    // of the record
  Quiet quiet;          // of its samples
  double searched = 0;  // seconds of the same program in the search, if `latency` is from a race
  RowId record = 0;     // 0 if nothing ran
  RowId run = 0;        // id of the run in the store; its rounds tell the course of the search
  int trials = 0;
  double in_place = 0;  // seconds of one execution in the last run of the whole model; 0 if unknown
  double minute_gain =
      0;  // seconds of the whole model that another minute of the search may gain by this task
  std::map<std::string, int> failures;
  bool interrupted = false;
  // Why the task ended before the budget was spent: "exhausted" (the space has nothing new left), "roofline" (near its
  // lower bound), "gain" (its last trials gained too little) or "failed". Otherwise empty.
  std::string ended;
  std::string failed;  // why the task could not be searched
};

// Searches the fastest program of each task. Returns one result for each task, in order.
absl::StatusOr<std::vector<TuneResult>> Tune(const std::vector<TuneTask>& tasks, const SpaceFunction& space,
                                             const Target& target, const TuneOptions& options,
                                             Measurer& measurer, Store& store);

}  // namespace kiln
