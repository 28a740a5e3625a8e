// The value of an index while the loops around it are bound: constant + Σ coefficient * atom, plus parts that
// differ between vector lanes.
//
// An atom is a value that is equal in all lanes and known only when the code runs: the variable of a loop that
// runs, or a digit of one (index_evaluator.h). Unrolled loops are constants, and the vectorized loop is a list
// of lanes. Plain values.
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
  // The distance between lanes if it is constant; 0 for values that are equal in all lanes.
  std::optional<int64_t> stride() const;
  // The value of the first lane, without the parts that differ between lanes.
  IndexValue Uniform() const;
  // The value of the lane with this number, as a uniform value. There must be no lane atoms (`vectors`).
  IndexValue Lane(size_t lane) const;
  void Add(const IndexValue& other, int64_t scale);
  // Appends a key to `key`. Equal keys mean equal values.
  void AppendKey(std::vector<int64_t>& key) const;
};

int64_t FloorDiv(int64_t value, int64_t divisor);
// The digit (value / lower) % extent; extent 0 means no remainder.
int64_t DigitOf(int64_t value, int64_t lower, int64_t extent);

}  // namespace kiln
