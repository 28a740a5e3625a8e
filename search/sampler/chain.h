// One step of a Metropolis-Hastings chain over the programs of a space (design D8). Exact:
// tests/search/chain_exact_test.cc makes the whole transition matrix of this code on small spaces and checks
// detailed balance.
//
// A point is a sketch and its decisions. The target at temperature T is  log π_T = log P - E / T,  with P the
// prior and E the energy. A step is split where the search needs it: all chains Propose (in parallel), the
// cost model scores all proposals in one batch, and then each chain accepts or stays (in order).
//
// Randomness comes from the Dice given. Points are not written once made, and are shared between chains.
// Propose is thread safe if each thread has a judge of its own.
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

// Says whether a program may be measured (if not, π = 0), and computes what the cost model sees of it. Keeps
// memory: one per thread.
using Judge = std::function<absl::Status(const Replayed&, FeatureSet& features)>;

// How the replays of each sketch begin (trace/replay.h), made when first asked for. Thread safe.
class Openings {
 public:
  std::shared_ptr<const Snapshot> Of(const Trace& sketch, size_t index, const Program& program,
                                     const Target& target);

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Snapshot>> made_;
};

// Where chains live. Must not move while points of it exist.
struct SearchSpace {
  Program original;
  Target target;
  std::vector<Trace> sketches;
  std::function<Judge()> make_judge;
  double support = 0;  // about how many programs, of all sketches; 0: not known
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

// A draw from the prior (or from that of one sketch), or the point that a candidate names. An error if a step
// does not apply or the judge refuses.
absl::StatusOr<Point> DrawPoint(const SearchSpace& space, const Judge& judge, Dice& dice,
                                std::optional<int> sketch = std::nullopt);
absl::StatusOr<Point> PointOf(const SearchSpace& space, const Judge& judge, const Candidate& candidate);
Candidate CandidateOf(const Point& point, double energy);

// What a step wants to do, with the terms of log α that do not depend on energies.
struct Move {
  std::shared_ptr<const Point> to;  // null: it does not exist or is refused, so π = 0
  double log_sites = 0;             // log W(τ) / W(τ')
  double log_prior = 0;             // log p_i(d') / p_i(d)
  double log_proposal = 0;          // log K(d | d') / K(d' | d)
  double log_sketch = 0;            // log P(k') r(k | k') / (P(k) r(k' | k)): zero, as both are uniform
};

// `structure` is the probability of a structural move, if there is more than one sketch.
Move Propose(const SearchSpace& space, const Judge& judge, const Point& from, double structure, Dice& dice);

double LogAlpha(const Move& move, double energy_from, double energy_to, double temperature);

// Whether the chain goes to move.to.
bool Accept(const Move& move, double energy_from, double energy_to, double temperature, Dice& dice);

}  // namespace kiln
