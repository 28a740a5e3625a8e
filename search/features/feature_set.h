// The numbers that a cost model sees: rows of one program, and those of many programs in one matrix.
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

// The features of many programs: one matrix, and where each program's rows begin.
struct FeatureBatch {
  int dim = 0;
  std::vector<float> values = {};  // rows() * dim
  std::vector<int32_t> first_row = {
      0};  // programs() + 1 entries: rows of program p are [first_row[p], first_row[p+1])

  int programs() const { return static_cast<int>(first_row.size()) - 1; }
  int rows() const { return first_row.back(); }

  // Adds one program. Invariant: rows.size() is a multiple of dim, and dim > 0.
  void AppendRows(absl::Span<const float> rows);
  // Adds one program. Invariant: its dim is this dim; a batch whose dim is 0 takes it over.
  void Append(const FeatureSet& program);
  // Forgets the programs and keeps the memory: for the next generation.
  void Clear();
};

}  // namespace kiln
