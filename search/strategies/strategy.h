// How the search of one task proposes what is measured next: one interface, strategies by name.
//
//   annealed             chains of Metropolis-Hastings steps, annealed and resampled (population.h), guided
//                        by the model; then coordinate descent around the best: the default
//   simulated-annealing  persistent chains that minimize the model's energy, as AutoTVM's
//   genetic              selection among what was measured, crossover of sites by name, mutation; no model
//   random               draws from the prior; no model
//   replay               the traces of a list, in order
//   exhaustive           every program of a small space, in order
//
// Another one: derive from Strategy in a file of its own here, and add its line to the table of strategy.cc.
//
// A round: the tuner asks for proposals, chooses a batch of them (batch.h), measures it, stores records and
// Save() together. What a strategy does is a function of its context, of what Save() gave, and of what Known
// says; randomness is keyed by (seed, task, round, ...). So a run that was killed goes on as it would have,
// and threads change nothing.
//
// Threads: one call at a time; a strategy may use the pool within.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "search/propose/batch.h"
#include "search/propose/knowledge.h"
#include "search/sampler/population.h"

namespace kiln {

struct StrategyOptions {
  PopulationOptions population = {};
  double random_share = 0.1;        // of a batch, drawn from the prior (scout.h)
  double first_random_share = 0.5;  // the same while the model has learned nothing
  int scouts = 16;                  // draws of each sketch that are looked at; 1: the least measured sketch's
  double neighbour_share = 0.2;     // one decision away from the best
  double doubt_share = 0.1;         // what the model is least sure of, where it says so
  double diversity = 0.2;           // see batch.h
  double descent = 0.15;            // of the trials at the end, in coordinate descent
  int parents = 64;                 // of a genetic generation: the fastest so many
  double mutation = 0.1;            // probability that a site of a child is drawn anew
  std::vector<Trace> replay = {};   // what `replay` measures; those of other sketches are sketches too
  int exhaustive_limit = 1 << 16;   // programs that `exhaustive` is willing to list
};

struct StrategyContext {
  const SearchSpace& space;
  const StrategyOptions& options;
  uint64_t seed = 0;
  int task = 0;
  ThreadPool& pool;
};

// What a strategy may know when it proposes.
struct Known {
  int round = 0;
  int size = 0;                      // of the batch that is wanted
  double done = 0;                   // share of the run's trials, in [0, 1]
  const CostModel* model = nullptr;  // null while it cannot tell programs apart, or if the strategy uses none
  bool trained = false;              // the model has learned from measurements
  std::vector<const Measured*> fastest = {};  // all of the task that can be best, fastest first
  const std::atomic<bool>* stop = nullptr;
};

// What goes on from round to round.
struct StrategyState {
  double temperature = 0;
  std::vector<Candidate> chains = {};
  int64_t next = 0;
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  // Before the first round. kFailedPrecondition: there is no program that may be measured; kInvalidArgument:
  // the space is none for this strategy.
  virtual absl::Status Start() = 0;
  // Instead of Start.
  virtual absl::Status Restore(const StrategyState& state) = 0;
  virtual StrategyState Save() const = 0;

  // How the batch is made of what `Propose` finds, and of what needs no search: asked first, for what needs
  // none is built meanwhile.
  virtual BatchOptions Batch(const Known& known) const = 0;
  // Taken in the order of their energies; equal ones as they stand. kCancelled if *known.stop was set; the
  // strategy is then of no further use.
  virtual absl::StatusOr<std::vector<Candidate>> Propose(const Known& known) = 0;
  // Whether to ask again if nothing of what was proposed is new. If not, the task is exhausted.
  virtual bool HasMore() const { return false; }

  virtual bool UsesModel() const { return true; }
  virtual RoundStats stats() const { return {}; }  // of the last round
};

// kInvalidArgument: no strategy of that name; the message lists them. The context's parts must outlive it.
absl::StatusOr<std::unique_ptr<Strategy>> MakeStrategy(absl::string_view name,
                                                       const StrategyContext& context);
std::vector<std::string> StrategyNames();
// kInvalidArgument unless there is a strategy of that name.
absl::Status CheckStrategy(absl::string_view name);

}  // namespace kiln
