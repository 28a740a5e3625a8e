// How the operands of a block move along the loops around it.
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
  // By loop around the block: a range of n iterations reads at most n * stride as much as one. 0: as much as one.
  std::vector<int64_t> strides;
  int64_t bytes = 4;  // of an element
};

// Returns an entry for each buffer that the block reads, in the order of ReadBuffers.
std::vector<OperandStrides> StridesOfOperands(const Program& program, Id block);

}  // namespace kiln
