// The algebra of index maps (design D2).
//
// An IndexSum is offset + Σ scale * ((source / lower) % extent). Splitting, fusing, tiling and packing give indices of
// this form. All divisions are floor divisions of values known to be >= 0 (a source runs from 0 to its extent - 1).
// Extent 0 means that no remainder is taken. All operations but Bounds and Image are exact: one that finds no result in
// this form returns nullopt and changes nothing. No operation calls a general solver. Plain values without shared
// state: safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"

namespace kiln {

// The variable that an index depends on. The algebra treats sources as opaque; Program defines the kinds.
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

// The term scale * ((source / lower) % extent), with lower >= 1. Extent 0 takes no remainder.
struct IndexSplit {
  Source source;
  int64_t scale = 1;
  int64_t lower = 1;
  int64_t extent = 0;
  friend bool operator==(const IndexSplit& a, const IndexSplit& b) {
    return a.source == b.source && a.scale == b.scale && a.lower == b.lower && a.extent == b.extent;
  }
};

struct IndexSum {
  int64_t offset = 0;
  absl::InlinedVector<IndexSplit, 4> splits;

  static IndexSum Constant(int64_t value) { return {value, {}}; }
  static IndexSum Of(Source source, int64_t scale = 1) { return {0, {IndexSplit{source, scale, 1, 0}}}; }
  bool IsConstant() const { return splits.empty(); }
  friend bool operator==(const IndexSum& a, const IndexSum& b) {
    return a.offset == b.offset && a.splits == b.splits;
  }
};

// A function that returns the extent of a source: its values are 0 .. extent - 1. It is a reference to a callable,
// valid only during the call that gets it.
using ExtentOf = absl::FunctionRef<int64_t(Source)>;

struct Interval {
  int64_t min = 0, max = 0;  // both inclusive
};

IndexSum operator+(IndexSum a, const IndexSum& b);
IndexSum operator*(IndexSum a, int64_t factor);

// SplitRange returns the number of values that a split's remainder can take. Bounds returns an interval that
// holds the sum. It is the smallest one if the splits of each source are digits that do not overlap.
int64_t SplitRange(const IndexSplit& split, ExtentOf extent_of);
Interval Bounds(const IndexSum& sum, ExtentOf extent_of);

// Returns the canonical form of a sum. It has no zero and no constant splits and no redundant remainders. Digits of one
// source are joined where adjacent (x/4*4 + x%4 = x) and separated where they overlap (x + x/4 = x/4*5 + x%4). Splits
// are ordered by descending |scale|, then source, then lower. Two sums are equal at every point if and only if their
// canonical forms are equal. `bounds` receives the Bounds of the sum.
IndexSum Simplify(const IndexSum& sum, ExtentOf extent_of, Interval* bounds = nullptr);

// Returns (sum / lower) % extent in canonical form, without the remainder if extent is 0. Returns nullopt if it finds
// no such form, even if there is one. The sum must be >= 0 everywhere.
std::optional<IndexSum> DivMod(const IndexSum& sum, int64_t lower, int64_t extent, ExtentOf extent_of);

// Replaces every source by the sum that `definition` returns for it (nullopt: the source stays), and returns the
// canonical form. If a replaced source is divided, DivMod must find the quotient, else the result is nullopt.
// `extent_of` is called only for sources of the result, so iters of one block can be replaced by iters of another. Pass
// a sum in canonical form for the best result: x%6 of an x below 6 is then x, whatever replaces x.
std::optional<IndexSum> Substitute(const IndexSum& sum,
                                   absl::FunctionRef<std::optional<IndexSum>(Source)> definition,
                                   ExtentOf extent_of);

// Returns the value of the sum, given the values of its sources.
int64_t Evaluate(const IndexSum& sum, absl::FunctionRef<int64_t(Source)> value_of);

// Prints the sum as a C expression: `x*16 + y/4%8*4 - y%4 + 3`. The offset comes first if the first split is
// negative: `7 - x/4`.
std::string ToString(const IndexSum& sum, absl::FunctionRef<std::string(Source)> name_of);

// A map from a box of iters (Source::Iter(0) ...) to results, each an IndexSum over the iters.
struct IndexMap {
  std::vector<int64_t> domain;  // extents of the iters
  std::vector<IndexSum> results;

  static IndexMap Identity(const std::vector<int64_t>& domain);
  // Returns a function that gives the extent of each iter. It refers to `domain`, so keep the map while the function is
  // used.
  auto extents() const {
    return [this](Source source) { return domain[source.id]; };
  }
  friend bool operator==(const IndexMap& a, const IndexMap& b) {
    return a.domain == b.domain && a.results == b.results;
  }
};

std::vector<int64_t> Evaluate(const IndexMap& map, const std::vector<int64_t>& point);
std::string ToString(const IndexMap& map);  // (i0 < 24) -> (i0/4, i0%4)

// Returns the composition of two maps, outer after inner: the results of `inner` are the iters of `outer`, and must lie
// in its domain. Returns nullopt if no index sum is found for a result (see DivMod).
std::optional<IndexMap> Compose(const IndexMap& outer, const IndexMap& inner);

// Returns for each result of the map an interval [min, max] that holds all its values. It is the smallest one where
// Bounds is exact.
std::vector<Interval> Image(const IndexMap& map);

// Returns true if the map is proven to be a bijection onto the box [0, max] of its results; false means "not
// proven". Every map that Compose makes of perfect splits, fuses, permutations and reversals is proven.
bool IsBijective(const IndexMap& map);

// Returns the inverse of a bijective map: from the box of its results to its domain. Returns nullopt if the map is not
// proven to be bijective.
std::optional<IndexMap> Inverse(const IndexMap& map);

// Divides a map: if `inner_iters` (a suffix of the domain) form a tile, result r is outer_r * tile_r + inner_r. Outer
// depends only on the other iters, inner only on inner_iters, and 0 <= inner_r < tile_r. nullopt if no such tile is
// found. tile_r is the smallest possible if result r depends on the other iters: inner's extent if it divides the outer
// strides. Tensorization and blockize use it.
struct Division {
  IndexMap outer, inner;
  std::vector<int64_t> tile;
};
std::optional<Division> Divide(const IndexMap& map, int inner_iters);

}  // namespace kiln
