// Finds the blocks that compute rows together, such as a softmax: one block stores the rows, and reductions along the
// row come before it. All other blocks whose results it needs for a row are members too, if nothing else reads their
// results.
//
//   for i: for k: S[i] sum= X[i, k]
//   for i: q[i] = sqrt(S[i])
//   for i: for j: Y[i, j] = X[i, j] / q[i]
//
// Members: S (a reduction of the row), q (one value a row) and Y (a row). S and Y read rows of X.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/program/program.h"

namespace kiln {

struct RowMember {
  enum Kind { kReduction, kValue, kRow };
  std::string name;
  Kind kind = kRow;
};

struct RowNest {
  int64_t columns = 0;             // elements of a row
  std::vector<RowMember> members;  // in program order; the last one stores the rows
  std::vector<Id> shared_rows;     // buffers that no member writes, and of which several members read rows
};

// Returns the rows that the block stores, and the blocks that compute them. Returns kFailedPrecondition, with the
// reason, if no reductions of these rows lead to the block, if it is scheduled, or if it belongs to the rows of a later
// block.
absl::StatusOr<RowNest> FindRowNest(const Program& program, Id block);

}  // namespace kiln
