#include "lang/base/random.h"

#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "lang/base/check.h"

namespace kiln {
namespace {

// The finalizer of SplitMix64: a bijection of 64-bit numbers that mixes well.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;

}  // namespace

Engine::Engine(std::initializer_list<uint64_t> key) : state_(0) {
  for (const uint64_t word : key) state_ = Mix(state_ + kGolden) ^ Mix(word + kGolden);
}

uint64_t Engine::operator()() { return Mix(state_ += kGolden); }

void Dice::Until(absl::FunctionRef<bool()> attempt) {
  while (!attempt()) {
  }
}

int RandomDice::Pick(absl::Span<const double> weights) {
  double total = 0;
  for (const double w : weights) total += w;
  KILN_CHECK(total > 0, "nothing to pick from");
  double at = boost::random::uniform_01<double>()(engine_) * total;
  int last = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = static_cast<int>(i);
    if (at < weights[i]) return last;
    at -= weights[i];
  }
  return last;
}

int64_t RandomDice::Below(int64_t n) {
  return boost::random::uniform_int_distribution<int64_t>(0, n - 1)(engine_);
}

bool RandomDice::Flip(double p) { return boost::random::uniform_01<double>()(engine_) < p; }

}  // namespace kiln
