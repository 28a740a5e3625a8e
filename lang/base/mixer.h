// 128-bit hashes of words, equal on every machine. Not safe against keys that an adversary chooses.
#pragma once

#include <cstdint>
#include <utility>

namespace kiln {

struct Hash128 {
  uint64_t high = 0, low = 0;
  friend bool operator==(Hash128 a, Hash128 b) { return a.high == b.high && a.low == b.low; }
  friend bool operator<(Hash128 a, Hash128 b) { return a.high != b.high ? a.high < b.high : a.low < b.low; }
  template <typename H>
  friend H AbslHashValue(H h, Hash128 v) {
    return H::combine(std::move(h), v.high, v.low);
  }
};

// Hashes a sequence of words to 128 bits. Two state words multiply and rotate, and the finalizer of splitmix64 mixes
// them at the end.
class Mixer {
 public:
  void Add(uint64_t word) {
    a_ = Rotate((a_ ^ word) * 0x9e3779b97f4a7c15u, 29) + b_;
    b_ = Rotate((b_ + word) * 0xc2b2ae3d27d4eb4fu, 31) ^ (a_ >> 7);
  }
  Hash128 Finish() const { return {Avalanche(a_ + b_), Avalanche(b_ ^ 0x165667b19e3779f9u) + Avalanche(a_)}; }

 private:
  static uint64_t Rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }
  static uint64_t Avalanche(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  uint64_t a_ = 0x243f6a8885a308d3u, b_ = 0x13198a2e03707344u;
};

}  // namespace kiln
