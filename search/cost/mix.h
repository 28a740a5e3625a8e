// A 64-bit mixing function for hashes and counter-based draws in the cost models: the output of SplitMix64 in state x
// (adds the increment, then applies the finalizer).
#pragma once

#include <cstdint>

namespace kiln {

inline uint64_t MixBits(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace kiln
