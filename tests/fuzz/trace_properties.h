// Checks properties of traces: text, simplification, replay, mutation, prior.
#pragma once

#include "lang/reference/shadow.h"
#include "tests/fuzz/session.h"

namespace kiln::fuzz {

// `now`: what the trace makes of the program, by hand; `wanted`: the program's shadow.
Broken CheckTrace(const Trace& trace, const Program& program, const Shadow& wanted, const Program& now,
                  uint64_t seed);

}  // namespace kiln::fuzz
