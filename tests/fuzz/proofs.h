// Runs the proof of equivalence (validator/proof/proof.h) on random pairs of a program and a trace. It must
// never contradict symbolic execution.
#pragma once

#include <cstdint>
#include <string>

#include "tests/support/summary.h"

namespace kiln::fuzz {

// Prints the verdicts by kind of pair, their times, and the reasons of the verdict "too hard". With
// `seeds_of` (a verdict, such as "too hard"), also prints the seeds with that verdict. Returns 1 if a verdict
// contradicts symbolic execution, or if fewer than 95% are decided.
int StudyProofs(int64_t pairs, int64_t seed, const std::string& seeds_of, const RunFiles& files);

}  // namespace kiln::fuzz
