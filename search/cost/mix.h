// A 64-bit mixing function (the finalizer of SplitMix64), for hashes and counter-based draws inside the cost
// models.
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
