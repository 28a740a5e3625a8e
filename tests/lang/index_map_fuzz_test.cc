// Tests the index-map algebra against brute force: evaluates the result of each operation on every point of a
// small box.
#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "gtest/gtest.h"
#include "lang/index/index_map.h"
#include "tests/support/repeats.h"

namespace kiln {
namespace {

using Point = std::vector<int64_t>;

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % (high - low + 1));
  }
  bool OneIn(int n) { return Between(1, n) == 1; }
  template <typename T>
  T Of(const std::vector<T>& values) {
    return values[Between(0, values.size() - 1)];
  }
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

struct Box {
  Point extents;
  int64_t operator()(Source source) const { return extents[source.id]; }
};

Box RandomBox(Random& random) {
  Box box;
  for (int64_t sources = random.Between(1, 3); sources > 0; --sources) {
    box.extents.push_back(random.Of<int64_t>({1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 16}));
  }
  return box;
}

template <typename Visit>
void ForEachPoint(const Point& extents, Visit visit) {
  Point point(extents.size(), 0);
  for (;;) {
    visit(point);
    size_t i = 0;
    while (i < point.size() && ++point[i] == extents[i]) point[i++] = 0;
    if (i == point.size()) return;
  }
}

int64_t ValueAt(const IndexSum& sum, const Point& point) {
  return Evaluate(sum, [&](Source source) { return point[source.id]; });
}

Point Values(const IndexSum& sum, const Box& box) {
  Point values;
  ForEachPoint(box.extents, [&](const Point& point) { values.push_back(ValueAt(sum, point)); });
  return values;
}

int64_t Min(const Point& values) { return *std::min_element(values.begin(), values.end()); }
int64_t Max(const Point& values) { return *std::max_element(values.begin(), values.end()); }

IndexSum RandomSum(Random& random, int sources, int64_t most_splits = 4) {
  IndexSum sum{random.Between(-3, 3), {}};
  for (int64_t splits = random.Between(0, most_splits); splits > 0; --splits) {
    const Source source = Source::Iter(random.Between(0, sources - 1));
    const int64_t scale =
        random.OneIn(2) ? random.Of<int64_t>({1, 2, 3, 4, 6, 8, 12, 16}) : random.Between(-8, 8);
    const int64_t extent = random.OneIn(2) ? 0 : random.Between(1, 8);
    sum.splits.push_back({source, scale, random.Between(1, 8), extent});
  }
  return sum;
}

IndexSum RaisedToZero(IndexSum sum, const Box& box) {
  sum.offset -= Min(Values(sum, box));
  return sum;
}

std::string Text(const IndexSum& sum) {
  return ToString(sum, [](Source source) { return "i" + std::to_string(source.id); });
}

std::string Text(const IndexSum& sum, const Box& box) { return ToString(IndexMap{box.extents, {sum}}); }

// Returns the same sum, written in another way: splits some terms into two, floor(x / a) = 2 * floor(x / 2a) + floor(x
// / a) % 2 for instance, adds and subtracts another term, and shuffles the terms.
IndexSum Rewritten(Random& random, const IndexSum& sum, const Box& box) {
  IndexSum out{sum.offset, {}};
  const auto add = [&](IndexSplit split) {
    const int64_t cut = random.Between(2, 4);
    if (split.extent % cut != 0 || random.OneIn(3)) {
      out.splits.push_back(split);
    } else {
      out.splits.push_back({split.source, split.scale * cut, split.lower * cut, split.extent / cut});
      out.splits.push_back({split.source, split.scale, split.lower, cut});
    }
  };
  for (const IndexSplit& split : sum.splits) add(split);
  if (random.OneIn(2)) {
    IndexSplit extra{Source::Iter(random.Between(0, box.extents.size() - 1)), random.Between(1, 5),
                     random.Between(1, 4), 0};
    add(extra);
    extra.scale = -extra.scale;
    add(extra);
  }
  std::shuffle(out.splits.begin(), out.splits.end(), random.engine());
  return out;
}

// Returns the box in which each source of a map is replaced by its digits, one source for each, cut at every divisor
// (`lower`) of its terms in the map. The points and their order stay the same.
Box Digits(const IndexMap& map) {
  Box digits;
  for (size_t source = 0; source < map.domain.size(); ++source) {
    std::set<int64_t> lowers = {1, map.domain[source]};
    for (const IndexSum& result : map.results) {
      for (const IndexSplit& split : result.splits) {
        if (split.source == Source::Iter(source)) lowers.insert(split.lower);
      }
    }
    digits.extents.push_back(*lowers.begin());
    for (auto at = lowers.begin(); std::next(at) != lowers.end(); ++at)
      digits.extents.push_back(*std::next(at) / *at);
  }
  return digits;
}

// Returns true if the values over the box, first source fastest, are those of a sum of at most `most` terms factor *
// floor(source / lower). Each function of one source has exactly one such form, found from 0 up.
bool Expressible(const Point& values, const Box& box, size_t most) {
  const IndexSum base = IndexSum::Constant(values[0]);
  IndexSum sum = base;
  int64_t stride = 1;
  for (size_t source = 0; source < box.extents.size(); stride *= box.extents[source++]) {
    IndexSum part = base;
    Point point(box.extents.size(), 0);
    for (int64_t x = 1; x < box.extents[source]; ++x) {
      point[source] = x;
      const int64_t missing = values[x * stride] - ValueAt(part, point);
      if (missing != 0) part.splits.push_back({Source::Iter(source), missing, x, 0});
    }
    sum.splits.insert(sum.splits.end(), part.splits.begin(), part.splits.end());
  }
  return sum.splits.size() <= most && Values(sum, box) == values;
}

TEST(IndexMapFuzz, SimplifyKeepsEveryValueAndIsIdempotent) {
  Random random(1);
  for (int i = 0; i < Repeats(30000); ++i) {
    const Box box = RandomBox(random);
    const IndexSum sum = RandomSum(random, box.extents.size());
    const IndexSum simple = Simplify(sum, box);
    ASSERT_EQ(Values(simple, box), Values(sum, box)) << Text(sum, box) << " became " << Text(simple);
    ASSERT_EQ(Simplify(simple, box), simple) << Text(sum, box);
  }
}

TEST(IndexMapFuzz, SimplifyMakesEqualFunctionsEqual) {
  Random random(2);
  int equal = 0;
  for (int i = 0; i < Repeats(30000); ++i) {
    const Box box = RandomBox(random);
    const IndexSum a = RandomSum(random, box.extents.size());
    const IndexSum same = Rewritten(random, a, box), other = RandomSum(random, box.extents.size(), 2);
    ASSERT_EQ(Simplify(same, box), Simplify(a, box)) << Text(a, box) << " and " << Text(same);
    const bool values_equal = Values(a, box) == Values(other, box);
    ASSERT_EQ(Simplify(a, box) == Simplify(other, box), values_equal)
        << Text(a, box) << " and " << Text(other);
    equal += values_equal;
  }
  EXPECT_GT(equal, Repeats(300));
}

TEST(IndexMapFuzz, BoundsHoldAndAreTightForDigits) {
  Random random(3);
  int tight = 0;
  for (int i = 0; i < Repeats(20000); ++i) {
    const Box box = RandomBox(random);
    const IndexSum sum = Simplify(RandomSum(random, box.extents.size()), box);
    const Point values = Values(sum, box);
    const Interval bounds = Bounds(sum, box);
    ASSERT_LE(bounds.min, Min(values)) << Text(sum, box);
    ASSERT_GE(bounds.max, Max(values)) << Text(sum, box);
    const bool is_tight = bounds.min == Min(values) && bounds.max == Max(values);
    const bool powers = std::all_of(sum.splits.begin(), sum.splits.end(), [](const IndexSplit& split) {
      return (split.lower & (split.lower - 1)) == 0 && (split.extent & (split.extent - 1)) == 0;
    });
    if (powers) ASSERT_TRUE(is_tight) << Text(sum, box) << " in " << bounds.min << " .. " << bounds.max;
    tight += is_tight;
  }
  EXPECT_GT(tight, Repeats(18000));
}

TEST(IndexMapFuzz, DivModAgreesWithDivision) {
  Random random(4);
  int found = 0;
  for (int i = 0; i < Repeats(40000); ++i) {
    const Box box = RandomBox(random);
    const IndexSum sum = RaisedToZero(RandomSum(random, box.extents.size()), box);
    const int64_t lower = random.OneIn(3) ? 1 : random.Between(1, 12);
    const int64_t extent = random.OneIn(3) ? 0 : random.Between(1, 12);
    Point expected = Values(sum, box);
    for (int64_t& value : expected) value = extent == 0 ? value / lower : value / lower % extent;
    const std::optional<IndexSum> result = DivMod(sum, lower, extent, box);
    if (!result) continue;
    ++found;
    ASSERT_EQ(Values(*result, box), expected) << Text(sum, box) << " by " << lower << ", " << extent;
    ASSERT_EQ(Simplify(*result, box), *result);
  }
  EXPECT_GT(found, Repeats(25000));
}

// Makes sums quotient * lower + remainder, and expects that DivMod finds both parts again. As in sums of tiles, gaps
// and halos, the remainder has sources of its own and may have a largest value below lower - 1.
TEST(IndexMapFuzz, DivModFindsTheQuotientAndRemainderThatASumWasMadeFrom) {
  Random random(10);
  for (int i = 0; i < Repeats(20000); ++i) {
    Box box = RandomBox(random);
    const int outer = box.extents.size();
    const IndexSum quotient = Simplify(RaisedToZero(RandomSum(random, outer, 3), box), box);
    for (int64_t extent : RandomBox(random).extents) box.extents.push_back(extent);
    IndexSum remainder = RandomSum(random, box.extents.size() - outer, 3);
    for (IndexSplit& split : remainder.splits) split.source.id += outer;
    remainder = Simplify(remainder, box);
    remainder.offset = random.Between(0, 2) + remainder.offset - Bounds(remainder, box).min;
    const int64_t lower = Bounds(remainder, box).max + random.Between(1, 4);
    const IndexSum sum = quotient * lower + remainder;
    ASSERT_EQ(DivMod(sum, lower, 0, box), quotient) << Text(sum, box) << " by " << lower;
    ASSERT_EQ(DivMod(sum, 1, lower, box), lower == 1 ? IndexSum() : remainder)
        << Text(sum, box) << " by " << lower;
  }
}

TEST(IndexMapFuzz, SubstituteAgreesWithEvaluation) {
  Random random(5);
  int done = 0;
  for (int i = 0; i < Repeats(20000); ++i) {
    const Box box = RandomBox(random);
    const int sources = box.extents.size();
    const IndexSum sum = RandomSum(random, sources + 1, 3);
    const Source replaced = Source::Iter(sources);
    const IndexSum definition = RaisedToZero(RandomSum(random, sources, 3), box);
    const std::optional<IndexSum> result = Substitute(
        sum,
        [&](Source source) {
          return source == replaced ? std::optional<IndexSum>(definition) : std::nullopt;
        },
        box);
    if (!result) continue;
    ++done;
    ForEachPoint(box.extents, [&](Point point) {
      const int64_t value = ValueAt(*result, point);
      point.push_back(ValueAt(definition, point));
      ASSERT_EQ(value, ValueAt(sum, point)) << Text(sum) << " with " << Text(definition, box);
    });
  }
  EXPECT_GT(done, Repeats(10000));
}

// Returns the index map of one random step on a box: a perfect split, a fuse, a permutation or a reversal.
IndexMap RandomStep(Random& random, const Point& domain) {
  IndexMap step = IndexMap::Identity(domain);
  const int at = random.Between(0, domain.size() - 1);
  const auto iter = [](int position, int64_t scale, int64_t lower, int64_t extent) {
    return IndexSum{0, {{Source::Iter(position), scale, lower, extent}}};
  };
  switch (random.Between(0, 3)) {
    case 0: {
      std::vector<int64_t> factors;
      for (int64_t factor = 1; factor <= domain[at]; ++factor) {
        if (domain[at] % factor == 0) factors.push_back(factor);
      }
      const int64_t factor = random.Of(factors);
      step.results[at] = iter(at, 1, factor, 0);
      step.results.insert(step.results.begin() + at + 1, iter(at, 1, 1, factor));
      break;
    }
    case 1:
      if (at + 1 == static_cast<int>(domain.size())) break;
      step.results[at] = iter(at, domain[at + 1], 1, 0) + iter(at + 1, 1, 1, 0);
      step.results.erase(step.results.begin() + at + 1);
      break;
    case 2:
      std::shuffle(step.results.begin(), step.results.end(), random.engine());
      break;
    default:
      step.results[at] = iter(at, -1, 1, 0) + IndexSum::Constant(domain[at] - 1);
  }
  return step;
}

Point ImageExtents(const IndexMap& map) {
  Point extents;
  for (const Interval& interval : Image(map)) extents.push_back(interval.max + 1);
  return extents;
}

struct Histories {
  int steps = 0, refused = 0;
};

// Returns the index map of up to 8 random steps on a random box. Skips and counts steps that Compose refuses, and
// expects that no index map of moderate size expresses their results.
IndexMap RandomHistory(Random& random, Histories& count) {
  const Box box = RandomBox(random);
  IndexMap map = IndexMap::Identity(box.extents);
  for (int64_t steps = random.Between(1, 8); steps > 0; --steps) {
    const IndexMap step = RandomStep(random, ImageExtents(map));
    std::optional<IndexMap> next = Compose(step, map);
    ++count.steps;
    if (next) {
      map = *std::move(next);
      continue;
    }
    ++count.refused;
    size_t splits = 0;
    for (const IndexSum& result : map.results) splits = std::max(splits, 2 * result.splits.size());
    std::vector<Point> values(step.results.size());
    ForEachPoint(box.extents, [&](const Point& point) {
      const Point moved = Evaluate(step, Evaluate(map, point));
      for (size_t r = 0; r < moved.size(); ++r) values[r].push_back(moved[r]);
    });
    const bool expressible = std::all_of(values.begin(), values.end(), [&](const Point& v) {
      return Expressible(v, box, splits) && Expressible(v, Digits(map), splits);
    });
    EXPECT_FALSE(expressible) << ToString(step) << " after " << ToString(map);
  }
  return map;
}

bool IsBijectionOntoItsBox(const IndexMap& map) {
  std::set<Point> images;
  Point most(map.results.size(), 0);
  bool negative = false;
  ForEachPoint(map.domain, [&](const Point& point) {
    const Point image = Evaluate(map, point);
    for (size_t r = 0; r < image.size(); ++r) {
      most[r] = std::max(most[r], image[r]);
      negative |= image[r] < 0;
    }
    images.insert(image);
  });
  const auto volume = [](const Point& extents, int64_t more) {
    return std::accumulate(extents.begin(), extents.end(), int64_t{1},
                           [&](int64_t a, int64_t b) { return a * (b + more); });
  };
  const int64_t points = volume(map.domain, 0);
  return !negative && points == static_cast<int64_t>(images.size()) && points == volume(most, 1);
}

TEST(IndexMapFuzz, HistoriesOfSplitsAndFusesAreBijectiveAndInvertible) {
  Random random(6);
  Histories count;
  for (int i = 0; i < Repeats(8000); ++i) {
    const IndexMap map = RandomHistory(random, count);
    ASSERT_TRUE(IsBijectionOntoItsBox(map)) << ToString(map);
    ASSERT_TRUE(IsBijective(map)) << ToString(map);
    const std::optional<IndexMap> inverse = Inverse(map);
    ASSERT_TRUE(inverse) << ToString(map);
    ForEachPoint(map.domain, [&](const Point& point) {
      ASSERT_EQ(Evaluate(*inverse, Evaluate(map, point)), point)
          << ToString(map) << ", " << ToString(*inverse);
    });
    ASSERT_EQ(Compose(*inverse, map), IndexMap::Identity(map.domain)) << ToString(map);
    ASSERT_EQ(Compose(map, *inverse), IndexMap::Identity(inverse->domain)) << ToString(map);
    ASSERT_EQ(ToString(*Inverse(*inverse)), ToString(map));
  }
  EXPECT_LT(count.refused, count.steps / 100) << "steps have no form as a sum";
}

TEST(IndexMapFuzz, IsBijectiveIsNeverTrueForWhatIsNot) {
  Random random(7);
  Histories count;
  int proven = 0, bijections = 0;
  for (int i = 0; i < Repeats(10000); ++i) {
    IndexMap map = RandomHistory(random, count);
    IndexSum& result = map.results[random.Between(0, map.results.size() - 1)];
    if (random.OneIn(4) || result.splits.empty()) {
      result = RandomSum(random, map.domain.size(), 2);
    } else {
      IndexSplit& split = result.splits[random.Between(0, result.splits.size() - 1)];
      int64_t& field = *random.Of<int64_t*>({&split.scale, &split.lower, &split.extent, &result.offset});
      field += random.Between(-1, 1);
      split.lower = std::max<int64_t>(split.lower, 1);
      split.extent = std::max<int64_t>(split.extent, 0);
    }
    const bool bijection = IsBijectionOntoItsBox(map);
    if (IsBijective(map)) ASSERT_TRUE(bijection) << ToString(map);
    proven += IsBijective(map);
    bijections += bijection;
  }
  EXPECT_GT(proven, Repeats(1000));
  EXPECT_EQ(proven, bijections);
}

TEST(IndexMapFuzz, DivideIsReconstructedByItsParts) {
  Random random(8);
  int divided = 0;
  for (int i = 0; i < Repeats(15000); ++i) {
    IndexMap map{RandomBox(random).extents, {}};
    map.results.assign(random.Between(1, 2), {});
    for (IndexSum& result : map.results) result = RandomSum(random, map.domain.size(), 3);
    const int inner = random.Between(0, map.domain.size()), outer = map.domain.size() - inner;
    const std::optional<Division> division = Divide(map, inner);
    if (!division) continue;
    ++divided;
    ForEachPoint(map.domain, [&](const Point& point) {
      const Point whole = Evaluate(map, point);
      const Point out = Evaluate(division->outer, Point(point.begin(), point.begin() + outer));
      const Point in = Evaluate(division->inner, Point(point.begin() + outer, point.end()));
      for (size_t r = 0; r < whole.size(); ++r) {
        ASSERT_TRUE(0 <= in[r] && in[r] < division->tile[r]) << ToString(map);
        ASSERT_EQ(out[r] * division->tile[r] + in[r], whole[r]) << ToString(map);
      }
    });
  }
  EXPECT_GT(divided, Repeats(2500));
}

TEST(IndexMapFuzz, DivideFindsTheTilesOfTiledMaps) {
  Random random(9);
  Histories count;
  for (int i = 0; i < Repeats(5000); ++i) {
    IndexMap outer = RandomHistory(random, count), inner = RandomHistory(random, count);
    const size_t results = std::min(outer.results.size(), inner.results.size());
    outer.results.resize(results);
    inner.results.resize(results);
    const Point tile = ImageExtents(inner);
    IndexMap map{outer.domain, {}};
    map.domain.insert(map.domain.end(), inner.domain.begin(), inner.domain.end());
    for (size_t r = 0; r < results; ++r) {
      IndexSum low = inner.results[r];
      for (IndexSplit& split : low.splits) split.source.id += outer.domain.size();
      map.results.push_back(outer.results[r] * tile[r] + low);
    }
    const std::optional<Division> division = Divide(map, inner.domain.size());
    ASSERT_TRUE(division) << ToString(map);
    EXPECT_EQ(division->tile, tile);
    EXPECT_EQ(division->outer, outer);
    EXPECT_EQ(division->inner, inner);
  }
}

}  // namespace
}  // namespace kiln
