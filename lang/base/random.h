// Random numbers for the search and for sampled schedules: repeatable draws that depend on a key.
//
// Engine is counter based: its stream depends only on its key. The key of a step's randomness is the
// identity of the step (seed, task, round, chain, step, purpose), so there is no state to save or restore
// (design D14).
//
// Dice is the interface for drawing: finite choices with known probabilities. RandomDice draws at random.
// Tests use dice that enumerate every outcome with its probability, and so get the transition matrix of a
// random algorithm.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace kiln {

// A UniformRandomBitGenerator of 64 bits, usable with Boost.Random's distributions. Runs SplitMix64 from a hash of the
// key, so equal keys give equal streams.
class Engine {
 public:
  using result_type = uint64_t;
  Engine(std::initializer_list<uint64_t> key);
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return ~uint64_t{0}; }
  uint64_t operator()();

 private:
  uint64_t state_;
};

class Dice {
 public:
  virtual ~Dice() = default;
  // Returns i with probability weights[i] / Σ weights. The sum must be positive.
  virtual int Pick(absl::Span<const double> weights) = 0;
  // Returns a number in 0 .. n-1, each equally likely.
  virtual int64_t Below(int64_t n) = 0;
  // Returns true with probability p.
  virtual bool Flip(double p) = 0;
  // Rejection sampling: runs `attempt`, which draws from these dice, until it returns true. An attempt must
  // have no effect except a result that the next attempt overwrites. Enumerating dice can then run all
  // attempts once and weight the accepted ones.
  virtual void Until(absl::FunctionRef<bool()> attempt);
};

class RandomDice final : public Dice {
 public:
  explicit RandomDice(Engine engine) : engine_(engine) {}
  int Pick(absl::Span<const double> weights) override;
  int64_t Below(int64_t n) override;
  bool Flip(double p) override;

 private:
  Engine engine_;
};

}  // namespace kiln
