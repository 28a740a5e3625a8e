// A strategy decides which candidates of one task the search proposes. There is one interface, and
// strategies have names; strategies.h lists them.
//
// To add a strategy, derive from Strategy in a new file of this folder, and add its row to the table of
// strategies.h.
//
// In a round, the tuner asks for proposals, selects a batch of them (batch.h), measures it, and stores the
// records together with Save(). A strategy's proposals depend only on its context, on the state from Save() and on the
// ProposalContext. Randomness is keyed by (seed, task, round, ...). So a killed run continues exactly, and the number
// of threads does not matter.
//
// Threads: one call at a time. A strategy may use the pool inside a call.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "search/propose/batch.h"
#include "search/propose/measured_history.h"
#include "search/sampler/population.h"

namespace kiln {

struct StrategyOptions {
  PopulationOptions population = {};
  double random_share = 0.1;        // share of a batch that is drawn from the prior (stratified_prior.h)
  double first_random_share = 0.5;  // the same share before the model has learned anything
  // Draws of each sketch that the stratified prior ranks. 1: it is not used, and draws are from the least
  // measured sketches.
  int scouts = 16;
  double neighbour_share = 0.2;  // share of a batch that is one decision away from the best programs
  // Share of these neighbours that keep the decisions and change the sketch. A matmul of 1024^3 on Zen 3
  // after 256 trials takes 20.6 ms without them, 19.2 and 18.2 ms with them (seeds 0 and 1; `kiln tune
  // --trials 256`, docs/decisions/0007). Other shares were not tried.
  double other_sketch_share = 0.25;
  double uncertainty_share = 0.1;  // share of a batch that the model is least sure of, if it reports doubt
  double diversity = 0.2;          // bonus for new decisions (batch.h)
  double descent = 0.15;           // share of the trials, at the end of the run, for coordinate descent
  int parents = 64;                // number of fastest programs that the genetic strategy breeds from
  double mutation = 0.1;           // probability that a site of a child is drawn again
  std::vector<Trace> replay = {};  // traces that `replay` measures; a trace of a new sketch adds that sketch
  int exhaustive_limit = 1 << 16;  // largest number of programs that `exhaustive` lists
};

struct StrategyContext {
  const SearchSpace& space;
  const StrategyOptions& options;
  uint64_t seed = 0;
  int task = 0;
  ThreadPool& pool;
};

// What a strategy may know when it proposes candidates.
struct ProposalContext {
  int round = 0;
  int size = 0;     // number of candidates wanted
  double done = 0;  // share of the run's trials, in [0, 1]
  // The cost model; null if it cannot distinguish programs yet, or if the strategy uses none.
  const CostModel* model = nullptr;
  bool trained = false;                       // the model has learned from measurements
  std::vector<const Measured*> fastest = {};  // all programs of the task that can be best, fastest first
  const std::atomic<bool>* stop = nullptr;
};

// The state that persists from round to round.
struct StrategyState {
  double temperature = 0;
  std::vector<Candidate> chains = {};
  int64_t next = 0;
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  // Starts a search, before the first round. Returns kFailedPrecondition if no program may be measured, and
  // kInvalidArgument if the strategy cannot search this space.
  virtual absl::Status Start() = 0;
  // Continues a search from a saved state, instead of Start.
  virtual absl::Status Restore(const StrategyState& state) = 0;
  virtual StrategyState Save() const = 0;

  // Returns how to make the batch: the shares of proposals, draws and neighbours. The tuner calls it before
  // Propose, so that programs that need no search are built meanwhile.
  virtual BatchOptions Batch(const ProposalContext& known) const = 0;
  // Returns candidates. The tuner takes them by energy; equal energies keep their order. Returns kCancelled
  // if *known.stop was set; the strategy must then not be used any more.
  virtual absl::StatusOr<std::vector<Candidate>> Propose(const ProposalContext& known) = 0;
  // Returns whether to call Propose again if all proposals are known already. If not, the task is exhausted.
  virtual bool HasMore() const { return false; }

  virtual bool UsesModel() const { return true; }
  virtual RoundStats stats() const { return {}; }  // of the last round
};

// Makes a strategy. Returns kInvalidArgument, with the list of names, if there is none of that name. The
// objects in the context must outlive the strategy.
absl::StatusOr<std::unique_ptr<Strategy>> MakeStrategy(absl::string_view name,
                                                       const StrategyContext& context);
std::vector<std::string> StrategyNames();
// Returns kInvalidArgument unless there is a strategy of that name.
absl::Status CheckStrategy(absl::string_view name);

}  // namespace kiln
