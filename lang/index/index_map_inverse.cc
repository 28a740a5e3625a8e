// Operations on whole maps: composition, image, inverse and division.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/base/check.h"
#include "lang/index/index_map.h"

namespace kiln {
namespace {

std::string IterName(Source source) {
  KILN_CHECK(source.kind == Source::Kind::kIter, "an index map's sources are its iters");
  return absl::StrCat("i", source.id);
}

// A digit (iter / lower) % range of an iter, and where a map's result holds it: as (result / place) % range, counted
// backwards if `reversed`.
struct Digit {
  int64_t lower = 1;
  int64_t range = 1;
  int64_t place = 1;
  int result = 0;
  bool reversed = false;
};

struct Digits {
  std::vector<std::vector<Digit>> of_iter;  // by iter, with ascending lower
  std::vector<int64_t> extents;             // of the results
};

// Returns the digits of a map that is proven to be a bijection, otherwise nullopt. The digits in each result must form
// a mixed-radix number from 0 up, and the digits of each iter, over all results, must make up the whole iter.
std::optional<Digits> BijectiveDigits(const IndexMap& map) {
  Digits digits{std::vector<std::vector<Digit>>(map.domain.size()), {}};
  for (size_t r = 0; r < map.results.size(); ++r) {
    const IndexSum result = Simplify(map.results[r], map.extents());
    if (Bounds(result, map.extents()).min != 0) return std::nullopt;
    int64_t place = 1;
    for (auto split = result.splits.rbegin(); split != result.splits.rend(); ++split) {
      if (std::abs(split->scale) != place) return std::nullopt;
      const int64_t range = SplitRange(*split, map.extents());
      digits.of_iter[split->source.id].push_back(
          {split->lower, range, place, static_cast<int>(r), split->scale < 0});
      place *= range;
    }
    digits.extents.push_back(place);
  }
  for (size_t i = 0; i < map.domain.size(); ++i) {
    std::vector<Digit>& of_iter = digits.of_iter[i];
    std::sort(of_iter.begin(), of_iter.end(),
              [](const Digit& a, const Digit& b) { return a.lower < b.lower; });
    int64_t lower = 1;
    for (const Digit& digit : of_iter) {
      if (digit.lower != lower) return std::nullopt;
      lower *= digit.range;
    }
    if (lower != map.domain[i]) return std::nullopt;
  }
  return digits;
}

IndexSum Part(const IndexSum& sum, int first_iter, int end_iter) {
  IndexSum part;
  for (IndexSplit split : sum.splits) {
    if (split.source.id < first_iter || split.source.id >= end_iter) continue;
    split.source.id -= first_iter;
    part.splits.push_back(split);
  }
  return part;
}

// Returns the smallest tile size that divides `outer_scales`, the steps between tiles, and in which `range` values from
// `start` on lie within one tile. Returns 0 if there is none. If `outer_scales` is 0, there is one tile alone: returns
// `range` if the values then lie within one tile, otherwise start + range, or 0 for a negative start.
int64_t SmallestTile(int64_t outer_scales, int64_t start, int64_t range) {
  const auto fits = [&](int64_t tile) { return (start % tile + tile) % tile + range <= tile; };
  if (outer_scales == 0) return fits(range) ? range : start >= 0 ? start + range : 0;
  for (int64_t count = outer_scales / range; count >= 1; --count) {
    if (outer_scales % count == 0 && fits(outer_scales / count)) return outer_scales / count;
  }
  return 0;
}

}  // namespace

IndexMap IndexMap::Identity(const std::vector<int64_t>& domain) {
  IndexMap map{domain, {}};
  for (size_t i = 0; i < domain.size(); ++i)
    map.results.push_back(Simplify(IndexSum::Of(Source::Iter(i)), map.extents()));
  return map;
}

std::vector<int64_t> Evaluate(const IndexMap& map, const std::vector<int64_t>& point) {
  std::vector<int64_t> values;
  for (const IndexSum& result : map.results) {
    values.push_back(Evaluate(result, [&](Source source) { return point[source.id]; }));
  }
  return values;
}

std::string ToString(const IndexMap& map) {
  std::vector<std::string> iters, results;
  for (size_t i = 0; i < map.domain.size(); ++i) iters.push_back(absl::StrCat("i", i, " < ", map.domain[i]));
  for (const IndexSum& result : map.results) results.push_back(ToString(result, IterName));
  return absl::StrCat("(", absl::StrJoin(iters, ", "), ") -> (", absl::StrJoin(results, ", "), ")");
}

std::optional<IndexMap> Compose(const IndexMap& outer, const IndexMap& inner) {
  KILN_CHECK(outer.domain.size() == inner.results.size(), "an outer map of ", outer.domain.size(),
             " iters after ", inner.results.size(), " results");
  IndexMap composed{inner.domain, {}};
  const auto definition = [&](Source source) { return std::optional<IndexSum>(inner.results[source.id]); };
  for (const IndexSum& result : outer.results) {
    std::optional<IndexSum> sum = Substitute(Simplify(result, outer.extents()), definition, inner.extents());
    if (!sum) return std::nullopt;
    composed.results.push_back(*std::move(sum));
  }
  return composed;
}

std::vector<Interval> Image(const IndexMap& map) {
  std::vector<Interval> image;
  for (const IndexSum& result : map.results)
    image.push_back(Bounds(Simplify(result, map.extents()), map.extents()));
  return image;
}

bool IsBijective(const IndexMap& map) { return BijectiveDigits(map).has_value(); }

std::optional<IndexMap> Inverse(const IndexMap& map) {
  const std::optional<Digits> digits = BijectiveDigits(map);
  if (!digits) return std::nullopt;
  IndexMap inverse{digits->extents, {}};
  for (const std::vector<Digit>& of_iter : digits->of_iter) {
    IndexSum iter;
    for (const Digit& digit : of_iter) {
      iter.splits.push_back({Source::Iter(digit.result), digit.reversed ? -digit.lower : digit.lower,
                             digit.place, digit.range});
      if (digit.reversed) iter.offset += digit.lower * (digit.range - 1);
    }
    inverse.results.push_back(Simplify(iter, inverse.extents()));
  }
  return inverse;
}

std::optional<Division> Divide(const IndexMap& map, int inner_iters) {
  const int iters = static_cast<int>(map.domain.size());
  const int outer_iters = iters - inner_iters;
  KILN_CHECK(inner_iters >= 0 && outer_iters >= 0, inner_iters, " inner iters of ", iters);
  const auto middle = map.domain.begin() + outer_iters;
  Division division{{{map.domain.begin(), middle}, {}}, {{middle, map.domain.end()}, {}}, {}};
  for (const IndexSum& unordered : map.results) {
    const IndexSum result = Simplify(unordered, map.extents());
    IndexSum outer = Part(result, 0, outer_iters), inner = Part(result, outer_iters, iters);
    int64_t outer_scales = 0;
    for (const IndexSplit& split : outer.splits) outer_scales = std::gcd(outer_scales, split.scale);
    const Interval values = Bounds(inner, division.inner.extents());
    const int64_t start = values.min + result.offset;
    const int64_t tile = SmallestTile(outer_scales, start, values.max - values.min + 1);
    if (tile == 0) return std::nullopt;
    const int64_t inner_start = (start % tile + tile) % tile;
    for (IndexSplit& split : outer.splits) split.scale /= tile;
    outer.offset = (start - inner_start) / tile;
    inner.offset = inner_start - values.min;
    division.outer.results.push_back(std::move(outer));
    division.inner.results.push_back(std::move(inner));
    division.tile.push_back(tile);
  }
  return division;
}

}  // namespace kiln
