// Runs loop plans of random programs under random traces (testing/plan_interpreter.h): they must compute what
// the program does, for machines of three kinds, with random annotations, and with random passes left out.
#pragma once

#include <cstdint>
#include <string>

#include "tests/support/summary.h"

namespace kiln::fuzz {

struct PlanStudy {
  int64_t pairs = 0, seed = 1, threads = 1;
  int64_t failures = 5;  // the study ends after this many
  RunFiles files;
};

// Checks the loop plans of four scheduled programs that a seed draws, or until one is wrong: mostly random traces of
// one random program, otherwise a tiled matmul or rows of exp. The result has the number of plans, and describes the
// fault of the first wrong plan (empty: none is wrong). A program that cannot run or cannot be lowered has no plan.
struct PlanSeed {
  int64_t pairs = 0;
  std::string wrong;
};
PlanSeed CheckPlans(uint64_t seed);

// Checks the loop plans of `pairs` pairs of a program and a trace. Prints each failure with the seed that repeats it.
// Also prints the share of the pairs in which each pass changes the plan, and of those in which each policy is off.
// Returns 0 if there is no failure and each share is at least 1%. With fewer than 10,000 pairs, shares may be smaller.
int FuzzPlans(const PlanStudy& study);

}  // namespace kiln::fuzz
