// A strategy decides which candidates of one task the search proposes. There is one interface, and
// strategies have names; strategies.h lists them.
//
// To add a strategy, derive from Strategy in a new file of this folder, and add its row to the table of strategies.h. A
// new strategy draws from EngineOf(..., Purpose::kStrategy) (search/purposes.h). An option of a strategy is a field of
// StrategyOptions and a part of the run's key (search/run/run_key.cc), so that no run goes on with other options.
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
  // The number of draws of each sketch that the stratified prior ranks. With 1 there is no stratified prior, and draws
  // take the least measured sketches first.
  int scouts = 16;
  double neighbour_share = 0.2;  // share of a batch that is one decision away from the best programs
  // The fraction of the best programs' neighbours that keep the decisions and change the sketch. A matmul of 1024^3 on
  // Zen 3 after 256 trials takes 20.6 ms without such neighbours, 19.2 and 18.2 ms with them (seeds 0 and 1; `kiln tune
  // --trials 256`, docs/decisions/0007). Other fractions were not tried.
  double other_sketch_share = 0.25;
  double uncertainty_share = 0.1;  // share of a batch that the model is least sure of, if it reports doubt
  double diversity = 0.2;          // bonus for new decisions (batch.h)
  double descent = 0.15;           // share of the trials, at the end of the run, for coordinate descent
  int parents = 64;                // number of fastest programs that the genetic strategy breeds from
  double mutation = 0.1;           // probability that a decision of a child is drawn again
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

// What a strategy may know when it proposes candidates: the round, the batch size, the model and the measured programs.
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

// The state of a strategy that persists from round to round. The store keeps it with the run.
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

  // Returns how to fill the next batch: its size, and the probabilities that a slot takes a draw from the prior or a
  // neighbour of a measured program instead of a proposal. The tuner calls Batch before Propose, so that draws and
  // neighbours are built while the strategy searches.
  virtual BatchOptions Batch(const ProposalContext& known) const = 0;
  // Returns candidates to measure. The tuner takes them by energy minus a bonus for new decisions, lowest first, and
  // some by uncertainty (batch.h). Ties keep their order. Returns kCancelled if *known.stop was set; the strategy must
  // then not be used any more.
  virtual absl::StatusOr<std::vector<Candidate>> Propose(const ProposalContext& known) = 0;
  // True if the tuner shall call Propose again when no proposal gave a new program. If false, the task ends as
  // exhausted.
  virtual bool HasMore() const { return false; }

  virtual bool UsesModel() const { return true; }
  virtual RoundStats stats() const { return {}; }  // of the last round
};

// Makes the strategy of that name. Returns kInvalidArgument, with the list of names, if the name is unknown. The
// objects to which the context refers must outlive the strategy.
absl::StatusOr<std::unique_ptr<Strategy>> MakeStrategy(absl::string_view name,
                                                       const StrategyContext& context);
std::vector<std::string> StrategyNames();
// Returns kInvalidArgument unless there is a strategy of that name.
absl::Status CheckStrategy(absl::string_view name);

}  // namespace kiln
