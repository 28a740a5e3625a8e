// The only sources of randomness.
//
// Engine is counter based: its stream is a function of its key alone, so a step's randomness is keyed by what
// the step is (seed, task, round, chain, step, purpose) and there is nothing to save or to restore (design
// D14).
//
// Dice is how code draws: finite choices with known probabilities. RandomDice draws them; tests replace it by
// dice that enumerate every outcome with its probability, which makes a transition matrix of a random
// algorithm.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace kiln {

// A UniformRandomBitGenerator of 64 bits, for Boost.Random's distributions.
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
  // i with probability weights[i] / Σ weights. The sum must be positive.
  virtual int Pick(absl::Span<const double> weights) = 0;
  // 0 .. n-1, each equally likely.
  virtual int64_t Below(int64_t n) = 0;
  // True with probability p.
  virtual bool Flip(double p) = 0;
  // Rejection sampling: runs `attempt`, which draws from these dice, until it returns true. An attempt leaves
  // nothing behind but a result that the next attempt overwrites, so dice that enumerate can run all attempts
  // once and take the accepted ones in proportion.
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
