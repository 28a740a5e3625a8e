// Finds the blocks that compute rows together, such as those of a softmax. The last member stores the rows. Each other
// member computes what a member reads: a row, one value for each row, or a reduction along the row. At least one is a
// reduction. Each other member is unscheduled, and writes one temporary that only members read.
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
// reason, if no reductions of these rows lead to the block, if it is a reduction, is scheduled, or has several results
// or no loop, or if it belongs to the rows of a later block.
absl::StatusOr<RowNest> FindRowNest(const Program& program, Id block);

}  // namespace kiln
