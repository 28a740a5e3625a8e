// The value of an index during emission: constant + Σ coefficient * atom, plus parts that differ between
// vector lanes.
//
// An atom is an SSA value of type index that is equal in all lanes: the variable of a loop that runs, or a
// digit of one. Unrolled loops are constants, and the vectorized loop is a list of lanes. Plain values; no
// MLIR operations are created here.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lang/index/index_map.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Value.h"

namespace kiln {

struct Atom {
  mlir::Value value;
  int level = 0;  // the loop body that defines it; 0 is the function
  Interval range;
};

struct IndexValue {
  struct PerLane {
    mlir::Value vector;  // a vector of index
    int64_t scale = 1;
    Interval range;
  };
  int64_t constant = 0;
  llvm::SmallVector<std::pair<int, int64_t>, 4> terms;  // (atom, coefficient), ascending
  std::vector<int64_t> lanes;                           // empty, or one per lane; the first is 0
  llvm::SmallVector<PerLane, 1> vectors;

  static IndexValue Constant(int64_t value);
  static IndexValue OfAtom(int atom);
  static IndexValue Lanes(int64_t count);  // 0, 1, 2, ...
  bool uniform() const { return lanes.empty() && vectors.empty(); }
  bool is_constant() const { return uniform() && terms.empty(); }
  // The distance between lanes if it is constant; 0 for values that are equal in all lanes.
  std::optional<int64_t> stride() const;
  // The value of the first lane, without the parts that differ between lanes.
  IndexValue Uniform() const;
  void Add(const IndexValue& other, int64_t scale);
  // Appends a key to `key`. Equal keys mean equal values.
  void AppendKey(std::vector<int64_t>& key) const;
};

int64_t FloorDiv(int64_t value, int64_t divisor);
// The digit (value / lower) % extent; extent 0 means no remainder.
int64_t DigitOf(int64_t value, int64_t lower, int64_t extent);

}  // namespace kiln
