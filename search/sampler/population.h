// The chains of one task: an annealed sequential Monte Carlo sampler of π_T (design D8). It takes the place of
// MetaSchedule's evolutionary search. Its weights and steps are exact for π_T. The restarts below are not exact.
//
// A round first computes all energies again with the current model. Weights exp(-(E_new - E_old) / T)
// carry the chains over. Then follow several stages. In each, T falls until the effective sample size is
// half the number of chains, the chains are resampled, and they take Metropolis-Hastings steps. Chains
// persist from round to round. If a new model changes the energies so much that few chains would carry all
// the weight, T rises as far as necessary. The weights then compare the target at the new T and new
// energies with the target at the old ones, so the sampler stays exact.
//
// A heuristic outside the exact sampler: some chains restart in every round, from the best measured
// programs or from the prior. They find programs that a cold population has lost.
//
// Every valid proposal of a round competes for the round's archive, whether a chain accepted it or not.
//
// All randomness is keyed by (seed, task, round, chain, step, purpose). Results do not depend on the
// number of threads, and a restored population continues as it would have (design D14). One call at a
// time.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "search/sampler/annealing.h"
#include "search/sampler/archive.h"
#include "search/sampler/chain.h"
#include "search/thread_pool.h"

namespace kiln {

struct PopulationOptions {
  int chains = 128;           // number of chains, and of the prior draws that scale energies
  int steps = 16;             // steps of every chain in a round
  int generations = 8;        // number of times that the temperature falls in a round
  double start = 0;           // a round starts at least at this temperature
  double floor = 0.1;         // lowest temperature
  double structure = 0.05;    // probability that a step changes the sketch
  double from_best = 0.0625;  // share of the chains that restart each round from measured programs
  double from_prior = 0.125;  // share of the chains that restart each round from the prior
  int archive = 512;
  bool resample = true;  // false, for comparison: no resampling when the temperature falls
};

struct RoundStats {
  int64_t proposed = 0;    // steps of all chains
  int64_t valid = 0;       // proposals that may be measured
  int64_t duplicates = 0;  // valid proposals seen before in the round
  int64_t accepted = 0;
  double temperature = 0;  // at the end of the round
  double effective = 0;  // least effective sample size of all resamplings; without any, the number of chains
};

class Population {
 public:
  // Makes a population without chains: Start or Restore makes the chains. `space` and `pool` must outlive the
  // population.
  Population(const SearchSpace& space, const PopulationOptions& options, uint64_t seed, int task,
             ThreadPool& pool);

  // Draws the chains from the prior. Returns kFailedPrecondition, with the last reason, if for some chain none of 100
  // drawn programs may be measured.
  absl::Status Start();

  // Runs one round and returns the archive: distinct candidates, best first. Some chains restart from the candidates
  // `best`, and some from the prior. Every chain takes `steps` steps; 0 means the number in the options. If *stop is
  // set, the round ends between two steps with kCancelled, and the population must not be used any more.
  absl::StatusOr<std::vector<Candidate>> Round(int round, const CostModel& model,
                                               absl::Span<const Candidate> best,
                                               const std::atomic<bool>* stop, int steps = 0);

  // The state of a population that persists from round to round.
  struct State {
    double temperature = 0;
    std::vector<Candidate> chains;  // with their energies in the last round
  };
  State Save() const;
  // Restores the chains from a saved state. Call it instead of Start.
  absl::Status Restore(const State& state);

  const RoundStats& stats() const { return stats_; }  // of the last round

 private:
  struct Chain {
    std::shared_ptr<const Point> at;
    double energy = 0;
  };

  absl::Status DrawPrior();
  absl::StatusOr<std::vector<double>> Energies(const CostModel& model, const FeatureBatch& features) const;
  absl::Status Reweigh(int round, const CostModel& model);
  absl::Status Restart(int round, const CostModel& model, absl::Span<const Candidate> best, Archive& archive);
  absl::Status Step(int round, int step, const CostModel& model, Archive& archive);
  void Cool(int round, int step);
  void Resample(int round, int step, absl::Span<const double> log_weights);

  const SearchSpace& space_;
  const PopulationOptions options_;
  const uint64_t seed_, task_;
  ThreadPool& pool_;
  std::vector<Prefilter> prefilters_;  // one prefilter per thread
  std::vector<std::shared_ptr<const Point>> prior_;
  std::vector<Chain> chains_;
  EnergyScale scale_;
  double temperature_;
  RoundStats stats_;
};

}  // namespace kiln
