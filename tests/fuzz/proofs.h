// Runs the proof of equivalence (validator/proof/proof.h) on random pairs of a program and a trace. It must
// never contradict symbolic execution.
#pragma once

#include <cstdint>
#include <string>

#include "lang/reference/symbolic.h"
#include "tests/fuzz/session.h"
#include "tests/support/summary.h"

namespace kiln::fuzz {

// Proves random pairs of a program and a trace, and also each scheduled program with a random change, which is illegal
// in most cases. Prints the verdicts by kind of pair, their times, the 20 most frequent reasons of the verdict "too
// hard", and the seeds of contradictions. With `seeds_of` (a verdict, such as "too hard"), also prints the seeds with
// that verdict. Writes a summary to `files`. Returns 1 if a verdict contradicts symbolic execution, or if fewer than
// 95% of a kind (of 20 pairs or more) are decided, otherwise 0.
int StudyProofs(int64_t pairs, int64_t seed, const std::string& seeds_of, const RunFiles& files);

// Checks that the proof of one pair agrees with `runs`, the fault that runs of the scheduled program `now` found, or
// none: a program with a fault must not be proven, and one without must not be refuted. For an eighth of the pairs
// without a fault, makes a random change in `now`. If symbolic runs of the changed program then differ from `wanted`,
// the original's symbolic outputs, it must not be proven. Returns `runs` if the proof agrees, and otherwise the
// property "proof". Counts the verdicts in `coverage`.
Broken CheckProof(const Program& original, const Program& now, const SymbolicOutputs& wanted,
                  const Broken& runs, uint64_t seed, Coverage* coverage);

}  // namespace kiln::fuzz
