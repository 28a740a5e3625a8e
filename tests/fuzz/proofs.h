// The proof of equivalence (validator/proof/proof.h) on random pairs: it must never contradict the shadow
// run.
#pragma once

#include <cstdint>
#include <string>

#include "tests/support/summary.h"

namespace kiln::fuzz {

// Prints verdicts by kind of pair, their times, and what was too hard; with `seeds_of` ("too hard") also the
// seeds with that verdict. Returns 1 if a verdict contradicts symbolic execution, or if fewer than 95% are
// decided.
int StudyProofs(int64_t pairs, int64_t seed, const std::string& seeds_of, const RunFiles& files);

}  // namespace kiln::fuzz
