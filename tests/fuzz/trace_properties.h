// Checks properties of traces: text, simplification, replay, mutation, prior.
#pragma once

#include "lang/reference/symbolic.h"
#include "tests/fuzz/session.h"

namespace kiln::fuzz {

// `now`: what the trace makes of the program, by hand; `wanted`: the program's symbolic outputs.
Broken CheckTrace(const Trace& trace, const Program& program, const SymbolicOutputs& wanted,
                  const Program& now, uint64_t seed);

}  // namespace kiln::fuzz
