// The algebra of index maps (design D2).
//
// A Sum is offset + Σ scale * ((source / lower) % extent): what loop splitting, fusing, tiling and packing
// make of indices. All divisions are floor divisions of values known to be >= 0 (a source runs from 0 to its
// extent - 1); extent 0 stands for "no remainder taken". Everything here is exact: an operation that cannot
// express its result in this form says so (nullopt) and changes nothing. No operation calls a general solver.
//
// Plain values without shared state: safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"

namespace kiln {

// Where an index comes from. The algebra treats sources as opaque; Program gives the kinds their meaning.
struct Source {
  enum class Kind : uint8_t { kLoop, kIter, kMark };
  Kind kind = Kind::kLoop;
  int32_t id = 0;

  static Source Loop(int32_t id) { return {Kind::kLoop, id}; }
  static Source Iter(int32_t position) { return {Kind::kIter, position}; }
  static Source Mark(int32_t id) { return {Kind::kMark, id}; }
  friend bool operator==(Source a, Source b) { return a.kind == b.kind && a.id == b.id; }
  friend bool operator!=(Source a, Source b) { return !(a == b); }
  friend bool operator<(Source a, Source b) { return a.kind != b.kind ? a.kind < b.kind : a.id < b.id; }
};

// scale * ((source / lower) % extent); extent 0 takes no remainder. lower >= 1, scale may be negative.
struct Split {
  Source source;
  int64_t scale = 1;
  int64_t lower = 1;
  int64_t extent = 0;
  friend bool operator==(const Split& a, const Split& b) {
    return a.source == b.source && a.scale == b.scale && a.lower == b.lower && a.extent == b.extent;
  }
};

struct Sum {
  int64_t offset = 0;
  absl::InlinedVector<Split, 4> splits;

  static Sum Constant(int64_t value) { return {value, {}}; }
  static Sum Of(Source source, int64_t scale = 1) { return {0, {Split{source, scale, 1, 0}}}; }
  bool IsConstant() const { return splits.empty(); }
  friend bool operator==(const Sum& a, const Sum& b) { return a.offset == b.offset && a.splits == b.splits; }
};

// Extent of a source: its values are 0 .. extent - 1. A reference to a callable: do not keep it.
using ExtentOf = absl::FunctionRef<int64_t(Source)>;

struct Interval {
  int64_t min = 0, max = 0;  // both inclusive
};

Sum operator+(Sum a, const Sum& b);
Sum operator*(Sum a, int64_t factor);

// Number of values a split's remainder can take, and an interval that holds the sum: the smallest one if the
// splits of each source are digits that do not overlap.
int64_t SplitRange(const Split& split, ExtentOf extent_of);
Interval Bounds(const Sum& sum, ExtentOf extent_of);

// The canonical form: no zero and no constant splits, redundant remainders dropped, digits of one source
// joined where adjacent (x/4*4 + x%4 = x) and taken apart where they overlap (x + x/4 = x/4*5 + x%4), splits
// ordered by descending |scale|, then source, then lower. Two sums are equal at every point if and only if
// their canonical forms are equal. `bounds` receives the Bounds of the sum.
Sum Simplify(const Sum& sum, ExtentOf extent_of, Interval* bounds = nullptr);

// (sum / lower) % extent in canonical form, extent 0 for no remainder; nullopt where the form cannot express
// it. The sum must be >= 0 everywhere.
std::optional<Sum> DivMod(const Sum& sum, int64_t lower, int64_t extent, ExtentOf extent_of);

// sum with every source replaced by what `definition` gives for it (nullopt: the source stays), in canonical
// form. A replaced source that is divided must be expressible (see DivMod); otherwise the whole is nullopt.
// `extent_of` is asked only for sources of the result, so iters of one block can be replaced by iters of
// another. A sum in canonical form gives the best result: x%6 of an x below 6 is then x, whatever x is
// replaced by.
std::optional<Sum> Substitute(const Sum& sum, absl::FunctionRef<std::optional<Sum>(Source)> definition,
                              ExtentOf extent_of);

// The value at a point.
int64_t Evaluate(const Sum& sum, absl::FunctionRef<int64_t(Source)> value_of);

// As an expression of C: `x*16 + y/4%8*4 - y%4 + 3`; the offset stands first if the first split is negative:
// `7 - x/4`.
std::string ToString(const Sum& sum, absl::FunctionRef<std::string(Source)> name_of);

// A map from a box of iters (Source::Iter(0) ...) to results.
struct IndexMap {
  std::vector<int64_t> domain;  // extents of the iters
  std::vector<Sum> results;

  static IndexMap Identity(const std::vector<int64_t>& domain);
  // An ExtentOf of the iters that refers to `domain`: keep the map while it is used.
  auto extents() const {
    return [this](Source source) { return domain[source.id]; };
  }
  friend bool operator==(const IndexMap& a, const IndexMap& b) {
    return a.domain == b.domain && a.results == b.results;
  }
};

std::vector<int64_t> Evaluate(const IndexMap& map, const std::vector<int64_t>& point);
std::string ToString(const IndexMap& map);  // (i0 < 24) -> (i0/4, i0%4)

// outer after inner: outer's iters are inner's results, which must lie within outer's domain.
std::optional<IndexMap> Compose(const IndexMap& outer, const IndexMap& inner);

// A box [min, max] that holds each result, the smallest one where Bounds gives it.
std::vector<Interval> Image(const IndexMap& map);

// True if the map is proven to be a bijection onto the box of its results' extents [0, max]; false says "not
// proven". Every map that Compose makes of perfect splits, fuses, permutations and reversals is proven.
bool IsBijective(const IndexMap& map);

// The inverse of a bijective map: from the box of its results back to its domain.
std::optional<IndexMap> Inverse(const IndexMap& map);

// Splits a map in an outer and an inner part: with `inner_iters` (a suffix of the domain) forming a tile,
// result r is outer_r * tile_r + inner_r, where outer depends on the other iters only and inner on
// inner_iters only, 0 <= inner_r < tile_r. nullopt where that is not so. tile_r is the smallest there is: the
// inner part's extent if it divides the outer strides. Tensorization and blockize are this division.
struct Division {
  IndexMap outer, inner;
  std::vector<int64_t> tile;
};
std::optional<Division> Divide(const IndexMap& map, int inner_iters);

}  // namespace kiln
