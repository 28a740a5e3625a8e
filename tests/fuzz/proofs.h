// Runs the proof of equivalence (validator/proof/proof.h) on random pairs of a program and a trace. It must
// never contradict symbolic execution.
#pragma once

#include <cstdint>
#include <string>

#include "lang/reference/symbolic.h"
#include "tests/fuzz/session.h"
#include "tests/support/summary.h"

namespace kiln::fuzz {

// Proves random pairs of a program and a trace. Prints the verdicts by kind of pair, their times, and the reasons of
// the verdict "too hard". With `seeds_of` (a verdict, such as "too hard"), also prints the seeds with that verdict.
// Returns 1 if a verdict contradicts symbolic execution, or if fewer than 95% are decided, otherwise 0.
int StudyProofs(int64_t pairs, int64_t seed, const std::string& seeds_of, const RunFiles& files);

// Checks that the proof of one pair agrees with `runs`, the fault that runs of `now` found, or none: what is proven
// must hold, and what is refuted must not. `wanted` has the original's symbolic outputs. Of an eighth of the pairs, a
// disturbed program that differs in the symbolic run must not be proven either. Returns `runs` if the proof agrees.
// Counts the verdicts.
Broken CheckProof(const Program& original, const Program& now, const SymbolicOutputs& wanted,
                  const Broken& runs, uint64_t seed, Coverage* coverage);

}  // namespace kiln::fuzz
