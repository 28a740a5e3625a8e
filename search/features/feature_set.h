// The numbers that a cost model reads: rows of one program, and those of many programs in one matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace kiln {

// The features of one program: rows of `dim` numbers, row after row. Most kinds of features have one row for each
// block.
struct FeatureSet {
  int dim = 0;
  std::vector<float> values = {};

  int rows() const { return dim == 0 ? 0 : static_cast<int>(values.size()) / dim; }
};

// The features of many programs: one matrix, and the index of each program's first row.
struct FeatureBatch {
  int dim = 0;
  std::vector<float> values = {};  // rows() * dim
  // The first row of each program, then the number of rows: the rows of program p are [first_row[p], first_row[p+1]).
  std::vector<int32_t> first_row = {0};

  int programs() const { return static_cast<int>(first_row.size()) - 1; }
  int rows() const { return first_row.back(); }

  // Appends the rows of one program. Invariant: rows.size() is a multiple of dim, and dim > 0.
  void AppendRows(absl::Span<const float> rows);
  // Appends the rows of one program. Invariant: the program's dim equals that of the batch. An empty batch with dim 0
  // adopts the program's dim.
  void Append(const FeatureSet& program);
  // Removes all programs and keeps the allocated memory for the next ones.
  void Clear();
};

}  // namespace kiln
