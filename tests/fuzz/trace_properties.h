// Checks properties of traces: text, simplification, replay, mutation, prior.
#pragma once

#include "lang/reference/symbolic.h"
#include "tests/fuzz/session.h"

namespace kiln::fuzz {

// Checks a trace: its text, its replay, its simplified form, a mutation at one random site, and for a tenth of the
// traces the prior. `now` is the program after the trace's steps, which the caller ran one by one. The mutated program
// must have the symbolic outputs `wanted`. Returns the first property that does not hold.
Broken CheckTrace(const Trace& trace, const Program& program, const SymbolicOutputs& wanted,
                  const Program& now, uint64_t seed);

}  // namespace kiln::fuzz
