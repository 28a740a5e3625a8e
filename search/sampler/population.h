// The chains of one task: an annealed sequential Monte Carlo sampler of π_T (design D8; the paper's
// evolutionary search, stated so that it is right).
//
// A round: energies are set anew from the model, and weights exp(-(E_new - E_old) / T) carry the chains over.
// Then stages follow, in each of which T falls until the effective sample size is half, chains are resampled,
// and take Metropolis-Hastings steps. Chains live on from round to round. Where a new model changes the
// energies so much that few chains would carry all the weight, T rises as far as it must: the weights are
// those of the target at the new T under the new energies against the old T under the old ones, so the
// sampler stays exact.
//
// Heuristics, which are no part of the sampler: some chains start every round anew, from the best measured
// programs and from the prior. They find what a cold population has lost.
//
// Whatever was proposed in a round and may be measured competes for the round's archive, whether a chain went
// there or not.
//
// All randomness is keyed by (seed, task, round, chain, step, purpose): results do not depend on the number
// of threads, and what is restored goes on as it would have (design D14). One call at a time.
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
  int chains = 128;           // and draws from the prior that give energies their scale
  int steps = 16;             // of every chain in a round
  int generations = 8;        // falls of the temperature in a round
  double start = 0;           // a round begins at this temperature at least
  double floor = 0.1;         // the temperature does not fall below
  double structure = 0.05;    // probability that a step is structural
  double from_best = 0.0625;  // share of the chains that start a round from measured programs
  double from_prior = 0.125;  // share of the chains that start a round from the prior
  int archive = 512;
  bool resample = true;  // false, for comparison: chains stay where they are when the temperature falls
};

struct RoundStats {
  int64_t proposed = 0;    // steps of all chains
  int64_t valid = 0;       // of these, programs that may be measured
  int64_t duplicates = 0;  // of these, seen before in the round
  int64_t accepted = 0;
  double temperature = 0;  // at the end
  double effective = 0;    // the least effective sample size of a resampling, of all chains
};

class Population {
 public:
  // `space` and `pool` must outlive the population.
  Population(const SearchSpace& space, const PopulationOptions& options, uint64_t seed, int task,
             ThreadPool& pool);

  // Draws the chains from the prior. kFailedPrecondition: no draw gives a program that may be measured, with
  // the last reason.
  absl::Status Start();

  // One round. The archive: distinct candidates, best first. A set `stop` ends the round between two steps
  // with kCancelled; the population is then of no further use. `steps` of every chain; 0: those of the
  // options.
  absl::StatusOr<std::vector<Candidate>> Round(int round, const CostModel& model,
                                               absl::Span<const Candidate> best,
                                               const std::atomic<bool>* stop, int steps = 0);

  // What goes on from round to round.
  struct State {
    double temperature = 0;
    std::vector<Candidate> chains;  // with the energies of the last round
  };
  State Save() const;
  // Instead of Start.
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
  std::vector<Judge> judges_;  // by thread
  std::vector<std::shared_ptr<const Point>> prior_;
  std::vector<Chain> chains_;
  EnergyScale scale_;
  double temperature_;
  RoundStats stats_;
};

}  // namespace kiln
