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
  // Returns the distance between neighboring lanes: 0 if all lanes are equal; nullopt if the distances differ, or
  // if there are lane atoms.
  std::optional<int64_t> stride() const;
  // Returns the value without the parts that differ between lanes. Without lane atoms, this is the first lane's.
  IndexValue Uniform() const;
  // Returns the value of the lane with this number, as a uniform value. There must be no lane atoms (`vectors`).
  IndexValue Lane(size_t lane) const;
  void Add(const IndexValue& other, int64_t scale);
  // Appends a key to `key`. Equal keys mean equal values.
  void AppendKey(std::vector<int64_t>& key) const;
};

int64_t FloorDiv(int64_t value, int64_t divisor);
// Returns (value / lower) % extent, both rounded down, so that the result is never negative. If `extent` is 0, returns
// value / lower.
int64_t DigitOf(int64_t value, int64_t lower, int64_t extent);

}  // namespace kiln
