// Small programs for tests that look for wrong schedules: one to four blocks among elementwise operations,
// contractions, stencils and copies with padding, strided, reversed and transposed accesses, gathers,
// broadcasts, buffers with gaps and of two writers, reductions of one and of two results that start from
// numbers and from what is loaded, loops that repeat a nest, odd extents, several consumers and outputs; some
// hundred instances. Element types and values keep every sum exact in any order.
#pragma once

#include <string>
#include <vector>

#include "lang/base/random.h"
#include "lang/program/program.h"

namespace kiln {

struct ProgramKinds {
  bool once = false;  // each element is written by one block (lang/reference/element_evaluator.h)
  // Also integers of other widths, reductions by xor, bits, unsigned max and min, chains of elementwise
  // blocks, and bodies of every kind (testing/random_bodies.h), divisions and -0.0 among them.
  bool types = false;
};
Program RandomProgram(Dice& dice, const ProgramKinds& kinds = {});

// Bytes of small integers for each parameter that is no output, where the program is defined as far as
// TrialRanges knows (lang/reference/trial_data.h).
std::vector<std::string> RandomInputs(const Program& program, Dice& dice);

}  // namespace kiln
