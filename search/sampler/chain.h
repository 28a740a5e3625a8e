// One step of a Metropolis-Hastings chain over the programs of a space (design D8). The step is exact:
// tests/search/chain_exact_test.cc computes the whole transition matrix of this code on small spaces and
// checks detailed balance.
//
// A point is a sketch and its decisions. The target at temperature T is  log π_T = log P - E / T,  where P is
// the prior and E the energy. A step has three parts, because the cost model scores in batches: all chains
// Propose (in parallel), the model scores all proposals, and then each chain accepts or stays (in order).
//
// All randomness comes from the given Dice. Points are immutable and shared between chains. Propose is thread
// safe if each thread has its own prefilter.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/base/random.h"
#include "search/candidate.h"
#include "search/cost/cost_model.h"
#include "trace/replay.h"

namespace kiln {

// Decides whether a program may be measured (if not, π = 0), and computes its features for the cost model. A
// prefilter keeps memory: use one per thread.
using Prefilter = std::function<absl::Status(const Replayed&, FeatureSet& features)>;

// A cache of snapshots: for each sketch the state before its first sampling step (trace/replay.h), computed on first
// use. Thread safe.
class Openings {
 public:
  std::shared_ptr<const Snapshot> Of(const Trace& sketch, size_t index, const Program& program,
                                     const Target& target);

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Snapshot>> made_;
};

// The search space of a task: its program, target and sketches. It must not move while points of it exist.
struct SearchSpace {
  Program original;
  Target target;
  std::vector<Trace> sketches;
  std::function<Prefilter()> make_prefilter;
  double support = 0;  // estimated number of programs of all sketches; 0 if unknown
  std::shared_ptr<Openings> openings = std::make_shared<Openings>();

  std::shared_ptr<const Snapshot> Opening(int sketch) const {
    return openings->Of(sketches[sketch], sketch, original, target);
  }
  absl::StatusOr<Replayed> Replay(int sketch, Chooser& chooser, bool snapshots = true) const {
    return kiln::Replay(sketches[sketch], original, target, chooser, {snapshots, Opening(sketch)});
  }
};

struct Point {
  int sketch = 0;
  Replayed replayed;
  FeatureSet features;
};

// DrawPoint draws a point from the prior: a random sketch, or the given one, with random decisions. PointOf replays a
// candidate. Both fail if a step does not apply or the prefilter refuses the program.
absl::StatusOr<Point> DrawPoint(const SearchSpace& space, const Prefilter& prefilter, Dice& dice,
                                std::optional<int> sketch = std::nullopt);
absl::StatusOr<Point> PointOf(const SearchSpace& space, const Prefilter& prefilter,
                              const Candidate& candidate);
Candidate CandidateOf(const Point& point, double energy);

// A proposed move of a chain, with the terms of the logarithm of the acceptance ratio, log α, that do not depend on
// energies.
struct Move {
  std::shared_ptr<const Point> to;  // null if the proposed program does not exist or is refused (π = 0)
  double log_sites = 0;     // log (number of sampling steps with several values before / after the move)
  double log_prior = 0;     // log (prior probability of the changed step's new / old decision)
  double log_proposal = 0;  // log (probability to propose the old from the new decision / new from old)
  double log_sketch = 0;    // the same two terms for sketches: zero, since both are uniform
};

// Proposes a move from a point: to another sketch with the probability `structure`, if there are several sketches, or
// else to another decision at one sampling step. move.to is null if the proposed program does not exist or is refused,
// or if no sampling step has several values.
Move Propose(const SearchSpace& space, const Prefilter& prefilter, const Point& from, double structure,
             Dice& dice);

double LogAlpha(const Move& move, double energy_from, double energy_to, double temperature);

// Decides at random, with probability min(1, α), whether the chain moves to move.to. Never if move.to is null.
bool Accept(const Move& move, double energy_from, double energy_to, double temperature, Dice& dice);

}  // namespace kiln
