// Draws small programs for tests that search for wrong schedules. A program has one to four of these, each of one block
// or a few: elementwise operations, contractions, stencils and padded copies; strided, reversed and transposed
// accesses, gathers and broadcasts; buffers with gaps or two writers; reductions with one or two results that start
// from numbers or loaded values. A loop may repeat a nest, extents may be odd, buffers may have several consumers, and
// programs several outputs. A program has some hundred instances, unless it is `large`. Element types and values keep
// every sum exact in any order.
#pragma once

#include <string>
#include <vector>

#include "lang/base/random.h"
#include "lang/program/program.h"

namespace kiln {

struct ProgramKinds {
  bool once = false;  // one block writes each element (lang/reference/element_evaluator.h)
  // If true, also draws integers of other widths, reductions by xor, bit operations, unsigned max and min, chains of
  // elementwise blocks, and all kinds of bodies (testing/random_bodies.h), including divisions and -0.0.
  bool types = false;
  bool large = false;  // a tensor has up to 260,000 elements, and a block 4,000,000 instances
};
Program RandomProgram(Dice& dice, const ProgramKinds& kinds = {});

// Returns random whole numbers as bytes for each parameter that is not an output: from -3 to 3, and sometimes -0.0 for
// floats. If the program has divisions or shifts, integers are drawn from the ranges for which TrialRanges finds the
// program defined (lang/reference/trial_data.h).
std::vector<std::string> RandomInputs(const Program& program, Dice& dice);

}  // namespace kiln
