// The numbers that a cost model reads: rows of one program, and those of many programs in one matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace kiln {

// The features of one program: one row for each store, `dim` numbers a row, row after row.
struct FeatureSet {
  int dim = 0;
  std::vector<float> values = {};

  int rows() const { return dim == 0 ? 0 : static_cast<int>(values.size()) / dim; }
};

// The features of many programs: one matrix, and the index of each program's first row.
struct FeatureBatch {
  int dim = 0;
  std::vector<float> values = {};  // rows() * dim
  // Has programs() + 1 entries. The rows of program p are [first_row[p], first_row[p+1]).
  std::vector<int32_t> first_row = {0};

  int programs() const { return static_cast<int>(first_row.size()) - 1; }
  int rows() const { return first_row.back(); }

  // Appends the rows of one program. Invariant: rows.size() is a multiple of dim, and dim > 0.
  void AppendRows(absl::Span<const float> rows);
  // Appends one program. Invariant: its dim equals this dim; an empty batch with dim 0 adopts it.
  void Append(const FeatureSet& program);
  // Removes all programs and keeps the memory for the next generation.
  void Clear();
};

}  // namespace kiln
