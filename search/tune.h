// The tuner: from programs and a space to the fastest schedules found, with everything that was measured in
// the store.
//
// A run is rounds, one task at a time: chains propose and are scored (population.h), a batch is chosen
// (batch.h), measured, and appended to the store together with the run's state; then the model learns. At the
// end the fastest race each other, so that none wins by a lucky sample.
//
// Budgets: trials (measured candidates, failed ones included) and seconds, for all tasks together; a run ends
// between rounds only.
//
// Same seed, same search: with a measurer that repeats its answers, records are equal bit for bit with any
// number of threads. The wall-clock budget and the records' times are the only things that depend on the
// clock.
//
// Resuming: the same tasks, sketches, target and options continue the newest unfinished run of the store,
// exactly as it would have gone on. A killed process loses the batch that was being measured, which is then
// measured again, and no acknowledged record. What earlier, finished runs have measured for a task is known
// from the start: the model learns from it, and it is not measured again.
//
// Stopping: set *options.stop (a signal handler may). The batch being measured is given up; what is
// acknowledged stays, the run stays unfinished, and the result says `interrupted`.
//
// Threads: Tune is called from one thread, which calls measurer, store and progress; `threads` are used for
// proposals.
//
// Errors: those of the store; kInvalidArgument for a space that branches on draws; kFailedPrecondition for a
// task without any program that may be measured. A candidate that fails is a record, not an error.
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
#include "search/measurer.h"
#include "search/population.h"
#include "trace/enumerate.h"

namespace kiln {

namespace proof {
class Prover;
}

struct TuneTask {
  std::string name;
  Program program;
  double flops = 0;  // of one execution, for reports; 0: not known
};

enum class Strategy {
  kAnnealed,  // chains, guided by the model
  kRandom,    // draws from the prior alone: the baseline
};

// What is known when a round has been recorded.
struct TuneProgress {
  int task = 0;
  std::string name;
  int round = 0;
  int trials = 0, total_trials = 0;     // of this task and of all, in this run
  double best_seconds = 0;              // infinity while nothing ran
  double gflops = 0;                    // 0 if the flops are not known
  std::map<std::string, int> failures;  // by class, of this task in this run
  std::optional<double> rank_accuracy;  // of the model on this batch, before it learned from it
  RoundStats chains;
  double seconds = 0;  // of the run so far, earlier sittings included
};

struct TuneOptions {
  int trials = 1000;
  double seconds = 0;  // 0: no limit
  uint64_t seed = 0;
  Strategy strategy = Strategy::kAnnealed;
  PopulationOptions population = {};
  EnumerateOptions sketches = {};
  double random_share = 0.05;       // of a batch, drawn from the prior
  double first_random_share = 0.5;  // the same while the model has learned nothing
  double neighbour_share = 0.2;     // of a batch, one decision away from the best
  double diversity = 0.2;           // see batch.h
  int finalists = 3;                // race at the end, and as many that the model likes; 0: no race
  int threads = 1;
  std::string command;  // what the user typed: kept with the run, and part of what makes it the same run
  std::string llvm_version;
  FeatureKind features = FeatureKind::kAnsor;  // what the model sees
  std::function<absl::StatusOr<std::unique_ptr<CostModel>>(int dim)> model =
      nullptr;                             // default: "trees" (search/cost/models.h)
  std::function<Judge()> judge = nullptr;  // default: validator and features
  proof::Prover* prover = nullptr;         // of finalists, beside the algebra (validator/proof.h)
  const Clock* clock = nullptr;            // default: the system's
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const TuneProgress&)> progress = nullptr;
};

struct TuneResult {
  std::string name;
  double latency =
      0;  // seconds: the median of the race, or of the record if there was none; infinity if nothing ran
  Trace trace;       // with its decisions
  Program program;   // scheduled
  RowId record = 0;  // 0 if nothing ran
  int trials = 0;
  std::map<std::string, int> failures;
  bool interrupted = false;
};

// One result for each task, in order.
absl::StatusOr<std::vector<TuneResult>> Tune(const std::vector<TuneTask>& tasks, const SpaceFunction& space,
                                             const Target& target, const TuneOptions& options,
                                             Measurer& measurer, Store& store);

}  // namespace kiln
