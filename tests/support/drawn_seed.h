// A seed for a test that tries something else on each run, and the command that tries the same again:
//   std::mt19937_64 random(DrawnSeed());
// prints `KILN_SEED=... PROGRAM --gtest_filter=...`. With KILN_SEED in the environment that is the seed.
#pragma once

#include <cstdint>

namespace kiln {

uint64_t DrawnSeed();

}  // namespace kiln
