// A seed for a test that tries something new on each run.
//
//   std::mt19937_64 random(DrawnSeed());
//
// Prints the command that repeats the run, `KILN_SEED=... PROGRAM --gtest_filter=...`. The environment
// variable KILN_SEED gives the seed instead. Errors: the current test fails if KILN_SEED is no number.
#pragma once

#include <cstdint>

namespace kiln {

uint64_t DrawnSeed();

}  // namespace kiln
