// Bounds how much more of each operand a block reads in n iterations of a loop around it than in one.
//
//   for (const OperandStrides& operand : StridesOfOperands(p, block)) operand.strides[2] ...
//
// Pure. There are no errors.
#pragma once

#include <cstdint>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

struct OperandStrides {
  // For each loop around the block: n iterations of the loop read at most n * stride times as much of the operand as
  // one iteration. 0: they read the same elements as one.
  std::vector<int64_t> strides;
  int64_t bytes = 4;  // of an element
};

// Returns the strides of each buffer that the block reads, in the order of ReadBuffers.
std::vector<OperandStrides> StridesOfOperands(const Program& program, Id block);

}  // namespace kiln
