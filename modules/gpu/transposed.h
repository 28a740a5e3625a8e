// Finds operands that a block reads across the rows of its result.
//
//   for j: for i: Y[j, i] = X[i, j] + Z[j, i]        of X, neighbours lie along j; of Y and Z, along i
//
// Pure.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "lang/program/program.h"

namespace kiln {

struct Transposed {
  std::vector<int> operands;  // in the order of ReadBuffers
  int rows = -1;          // the loop along which neighbours of these operands lie: a position in LoopsAround
  int columns = -1;       // the loop along which neighbours of the result lie
  int64_t widest = 1;     // bytes of an element: the most of these operands and of the result
  int64_t narrowest = 1;  // the least of these operands
};

// Returns the operands whose neighbours lie along another loop than those of the result, and whose indices also depend
// on the result's loop. If their loops differ, returns only those with the loop of the first one. Returns
// kFailedPrecondition, with the reason, if the block is scheduled or reduces, has several results, or stores no
// neighbours along a single loop, or if there is no such operand.
absl::StatusOr<Transposed> FindTransposed(const Program& program, Id block);

}  // namespace kiln
