// Checks properties of traces: text, simplification, replay, mutation, prior.
#pragma once

#include "lang/reference/symbolic.h"
#include "tests/fuzz/session.h"

namespace kiln::fuzz {

// Checks the properties of a trace, those of mutation at one random site, and the prior of a tenth of the traces. `now`
// is the program after its steps, which the caller ran one by one. Mutated programs must have the symbolic outputs
// `wanted`. Returns the first property that does not hold.
Broken CheckTrace(const Trace& trace, const Program& program, const SymbolicOutputs& wanted,
                  const Program& now, uint64_t seed);

}  // namespace kiln::fuzz
