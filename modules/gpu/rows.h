// Finds rows that are reduced and then read again: a block that stores rows, with the blocks that make what
// it needs of its own row.
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

// kFailedPrecondition, with the reason, if the block does not store rows that reductions of these rows lead
// to, or if one of these is scheduled or has other readers.
absl::StatusOr<RowNest> FindRowNest(const Program& program, Id block);

}  // namespace kiln
