// The tuner: searches a space for the fastest schedules of some programs, and keeps everything it measures in
// a store.
//
// Rounds. A run is a sequence of rounds. In each round, one task's chains propose candidates and the model
// scores them (population.h), a batch is selected (batch.h) and measured, the records and the run's state are
// stored together, and the model learns. At the end the fastest programs race each other, so that none wins
// by a lucky sample.
//
// Budgets. Trials (measured candidates, failed ones included) and seconds are limits for all tasks together.
// A run ends between rounds only. A task ends early when its space has nothing new left. On request, it also
// ends when it is near its roofline, or when its last trials gained too little.
//
// Tasks. A scheduler gives each round to a task (task_scheduler.h). Tasks with equal programs are tuned once,
// with the sum of their weights.
//
// Determinism. With a measurer that repeats its answers, equal seeds give equal records, bit for bit, for any
// number of threads. Only the budget in seconds and the times of records depend on the clock.
//
// Resuming. A call with the same tasks, sketches, target and options continues the newest unfinished run of
// the store, exactly as that run would have continued. A killed process loses the batch that it was
// measuring, which is measured again, and no acknowledged record. Records of earlier, finished runs count
// from the start: the model learns from them, and their programs are not measured again.
//
// Stopping. Set *options.stop; a signal handler may. The current batch is given up, stored records stay, the
// run stays unfinished, and the result says `interrupted`.
//
// Threads. Call Tune from one thread, which calls measurer, store and progress. Proposals use `threads`
// threads.
//
// Errors: those of the store; kInvalidArgument for a space that branches on draws, or that the strategy
// cannot search; kFailedPrecondition if no task has a program that may be measured. A task without such a
// program is left out, and its result says why. A candidate that fails is a record, not an error.
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
  double flops = 0;             // of one execution, for reports; 0: not known
  double weight = 1;            // how often it occurs
  std::string failed = {};      // why it cannot be tuned; it is left out. Empty if it can
  double roofline_seconds = 0;  // the least that the machine could need; 0: not known
  // What the file calls its parameters, in order; the run keeps them for whoever exports its records.
  std::vector<std::string> arguments = {};
  std::optional<Enumeration> sketches = {};  // of the space; made of it by Tune where they are not given
};

// What is known when a round has been recorded.
struct TuneProgress {
  int task = 0;
  std::string name;
  int round = 0;
  int trials = 0, total_trials = 0;     // of this task and of all, in this run
  int batch = 0, failed = 0;            // programs measured in this round, and failures among them
  double best_seconds = 0;              // infinity while nothing ran
  double gflops = 0;                    // 0 if the flops are not known
  std::map<std::string, int> failures;  // by class, of this task in this run
  std::optional<double> rank_accuracy;  // of the model on this batch, before it learned from it
  Quiet quiet;                          // of the samples of this round
  RoundStats chains;
  PhaseSeconds phases;  // of this round
  double seconds = 0;   // of the run so far, earlier sittings included
};

struct TuneOptions {
  int trials = 1000;
  double seconds = 0;  // 0: no limit
  uint64_t seed = 0;
  double until_roofline = 0;  // a task ends within this part of its roofline (0.1: 10% slower); 0: never
  double least_gain = 0;      // a task ends when its last quarter of trials, or 64, gained less; 0: never
  std::string strategy = "annealed";  // strategies/strategy.h
  StrategyOptions search = {};
  // Measured first, by each task of whose program the steps apply; of other sketches, they are sketches too.
  std::vector<Trace> start = {};
  Scheduling scheduling = Scheduling::kGradient;
  EnumerateOptions sketches = {};
  int finalists = 3;  // race at the end, and as many that the model likes; 0: no race
  int threads = 1;
  bool cold = false;    // what the measurer times has cold caches, and only records of such count as known
  std::string command;  // what the user typed: kept with the run, and part of what makes it the same run
  std::string llvm_version;
  FeatureKind features = FeatureKind::kAnsor;  // what the model sees
  std::function<absl::StatusOr<std::unique_ptr<CostModel>>(int dim)> model =
      nullptr;                             // default: "trees" (search/cost/models.h)
  std::function<Judge()> judge = nullptr;  // default: validator and features
  proof::Prover* prover = nullptr;         // of finalists, beside the algebra (validator/proof/proof.h)
  const Clock* clock = nullptr;            // default: the system's
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const TuneProgress&)> progress = nullptr;
};

struct TuneResult {
  std::string name;
  double latency =
      0;  // seconds: the median of the race, or of the record if there was none; infinity if nothing ran
  Trace trace;          // with its decisions
  Program program;      // scheduled
  RecordFlags flags;    // of the record
  Quiet quiet;          // of its samples
  double searched = 0;  // seconds of the same program as the search told them, where `latency` is of a race
  RowId record = 0;     // 0 if nothing ran
  RowId run = 0;        // of the store, whose rounds say how it went
  int trials = 0;
  std::map<std::string, int> failures;
  bool interrupted = false;
  // Why it ended before the budget was spent: "exhausted", "roofline", "gain", "failed"; else empty.
  std::string ended;
  std::string failed;  // why nothing of it could be searched
};

// One result for each task, in order.
absl::StatusOr<std::vector<TuneResult>> Tune(const std::vector<TuneTask>& tasks, const SpaceFunction& space,
                                             const Target& target, const TuneOptions& options,
                                             Measurer& measurer, Store& store);

}  // namespace kiln
