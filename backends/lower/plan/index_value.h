// IndexValue: the value of an index at a place of the generated code, as constant + Σ coefficient * atom, plus parts
// that differ between vector lanes.
//
// An atom is a value that is equal in all lanes and known only at run time: the variable of a loop that runs, or a
// quotient or remainder of such values (index_evaluator.h). The variables of unrolled loops are constants here, and
// that of the vectorized loop is a list with a number for each lane.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "lang/index/index_map.h"

namespace kiln {

struct IndexValue {
  struct PerLane {
    int atom = 0;  // a lane atom: a value for each lane
    int64_t scale = 1;
  };
  int64_t constant = 0;
  absl::InlinedVector<std::pair<int, int64_t>, 4> terms;  // (atom, coefficient), ascending
  std::vector<int64_t> lanes;                             // empty, or one per lane; the first is 0
  absl::InlinedVector<PerLane, 1> vectors;

  static IndexValue Constant(int64_t value);
  static IndexValue OfAtom(int atom);
  static IndexValue OfLaneAtom(int atom);
  static IndexValue Lanes(int64_t count);  // 0, 1, 2, ...
  bool uniform() const { return lanes.empty() && vectors.empty(); }
  bool is_constant() const { return uniform() && terms.empty(); }
  // Returns by how much the value grows from each vector lane to the next, 0 if it is equal in all lanes. Returns
  // nullopt if the distances differ, or if lanes have values that are known only at run time (`vectors`).
  std::optional<int64_t> stride() const;
  // Returns the value without the parts that differ between vector lanes. This is the value of the first lane if no
  // lane has a value that is known only at run time (`vectors`).
  IndexValue Uniform() const;
  // Returns the value in the vector lane with this number. No lane may have a value known only at run time (`vectors`).
  IndexValue Lane(size_t lane) const;
  void Add(const IndexValue& other, int64_t scale);
  // Appends numbers to `key` that identify this value: values that append equal numbers are equal.
  void AppendKey(std::vector<int64_t>& key) const;
};

int64_t FloorDiv(int64_t value, int64_t divisor);
// Returns (value / lower) % extent, both rounded down, so that the result is never negative. If `extent` is 0, returns
// value / lower.
int64_t DigitOf(int64_t value, int64_t lower, int64_t extent);

}  // namespace kiln
