#include "lang/index/index_map.h"

#include "gtest/gtest.h"

namespace kiln {
namespace {

const Source x = Source::Loop(0), y = Source::Loop(1), z = Source::Loop(2);

std::string Name(Source source) { return std::string(1, "xyz"[source.id]); }
std::string Text(const IndexSum& sum) { return ToString(sum, Name); }
std::string Text(const std::optional<IndexSum>& sum) { return sum ? Text(*sum) : "nullopt"; }

// Returns a function that gives the extents of the sources x, y and z (an ExtentOf).
auto Extents(std::vector<int64_t> extents) {
  return [extents = std::move(extents)](Source source) { return extents[source.id]; };
}

IndexSum Make(int64_t offset, std::initializer_list<IndexSplit> splits) {
  return {offset, {splits.begin(), splits.end()}};
}

IndexSum Iter(int position, int64_t scale = 1, int64_t lower = 1, int64_t extent = 0) {
  return Make(0, {{Source::Iter(position), scale, lower, extent}});
}

TEST(SumText, ReadsLikeAnExpression) {
  EXPECT_EQ(Text(Make(3, {{x, 16, 1, 0}, {y, 4, 4, 8}, {y, -1, 1, 4}})), "x*16 + y/4%8*4 - y%4 + 3");
  EXPECT_EQ(Text(Make(-1, {{x, 1, 1, 0}})), "x - 1");
  EXPECT_EQ(Text(IndexSum::Constant(-5)), "-5");
}

TEST(SumText, BeginsWithTheOffsetIfTheFirstSplitIsNegative) {
  EXPECT_EQ(Text(Make(7, {{x, -1, 4, 0}})), "7 - x/4");
  EXPECT_EQ(Text(Make(0, {{x, -2, 1, 0}})), "0 - x*2");
}

TEST(Simplify, JoinsTheDigitsOfOneSource) {
  EXPECT_EQ(Text(Simplify(Make(0, {{x, 4, 4, 0}, {x, 1, 1, 4}}), Extents({24}))), "x");
  EXPECT_EQ(Text(Simplify(Make(0, {{x, 1, 2, 3}, {x, 3, 6, 0}}), Extents({24}))), "x/2");
}

TEST(Simplify, KeepsDigitsThatAreApart) {
  EXPECT_EQ(Text(Simplify(Make(0, {{x, 1, 1, 4}, {x, 16, 4, 0}}), Extents({24}))), "x/4*16 + x%4");
}

TEST(Simplify, SeparatesDigitsThatOverlap) {
  EXPECT_EQ(Text(Simplify(Make(0, {{x, 1, 1, 0}, {x, 1, 4, 0}}), Extents({24}))), "x/4*5 + x%4");
}

TEST(Simplify, KeepsRemaindersOfUnrelatedSizes) {
  EXPECT_EQ(Text(Simplify(Make(0, {{x, 2, 1, 6}, {x, 1, 1, 4}}), Extents({24}))), "x%6*2 + x%4");
}

TEST(Simplify, TurnsADifferenceIntoARemainder) {
  EXPECT_EQ(Text(Simplify(Make(0, {{x, 1, 1, 0}, {x, -4, 4, 0}}), Extents({24}))), "x%4");
}

TEST(Simplify, DropsWhatIsConstantAndRemaindersThatDoNothing) {
  EXPECT_EQ(Text(Simplify(Make(2, {{x, 0, 1, 0}, {y, 5, 8, 0}, {z, 1, 2, 3}}), Extents({24, 8, 6}))),
            "z/2 + 2");
}

TEST(Simplify, OrdersSplitsByScaleThenSource) {
  EXPECT_EQ(Text(Simplify(Make(0, {{z, 1, 1, 0}, {y, -8, 1, 0}, {x, 1, 1, 0}}), Extents({4, 4, 4}))),
            "0 - y*8 + x + z");
}

TEST(Simplify, CancelsToAConstant) {
  EXPECT_EQ(Text(Simplify(Make(1, {{x, 1, 1, 0}, {x, -4, 4, 0}, {x, -1, 1, 4}}), Extents({24}))), "1");
}

TEST(Bounds, CountTheLastIncompleteTile) {
  const Interval bounds = Bounds(Make(0, {{x, 8, 4, 0}, {x, 1, 1, 4}}), Extents({6}));
  EXPECT_EQ(bounds.min, 0);
  EXPECT_EQ(bounds.max, 9);
}

TEST(DivMod, TakesATiledIndexApart) {
  const IndexSum tiled = Make(0, {{x, 16, 1, 0}, {y, 4, 1, 0}, {z, 1, 1, 0}});
  const auto extents = Extents({8, 4, 4});
  EXPECT_EQ(Text(DivMod(tiled, 16, 0, extents)), "x");
  EXPECT_EQ(Text(DivMod(tiled, 4, 4, extents)), "y");
  EXPECT_EQ(Text(DivMod(tiled, 1, 16, extents)), "y*4 + z");
}

TEST(DivMod, CutsASplitThatStraddles) {
  EXPECT_EQ(Text(DivMod(IndexSum::Of(x), 4, 2, Extents({24}))), "x/4%2");
  EXPECT_EQ(Text(DivMod(Make(0, {{x, 4, 1, 0}, {y, 1, 1, 0}}), 8, 0, Extents({24, 4}))), "x/2");
  EXPECT_EQ(Text(DivMod(Make(0, {{x, 12, 1, 0}}), 8, 0, Extents({24}))), "x/2*3 + x%2");
}

TEST(DivMod, CarriesAnOffsetThatStaysWithinATile) {
  EXPECT_EQ(Text(DivMod(Make(1, {{x, 4, 1, 0}, {y, 1, 1, 0}}), 4, 0, Extents({8, 3}))), "x");
  EXPECT_EQ(Text(DivMod(Make(1, {{x, 4, 1, 0}, {y, 1, 1, 0}}), 4, 0, Extents({8, 4}))), "nullopt");
}

TEST(DivMod, DividesAReversedLoop) {
  EXPECT_EQ(Text(DivMod(Make(23, {{x, -1, 1, 0}}), 4, 0, Extents({24}))), "5 - x/4");
  EXPECT_EQ(Text(DivMod(Make(23, {{x, -1, 1, 0}}), 1, 4, Extents({24}))), "3 - x%4");
}

TEST(DivMod, RefusesWhatCarries) {
  EXPECT_EQ(Text(DivMod(Make(0, {{x, 1, 1, 0}, {y, 1, 1, 0}}), 4, 0, Extents({4, 4}))), "nullopt");
  EXPECT_EQ(Text(DivMod(Make(0, {{x, 1, 1, 6}}), 4, 0, Extents({24}))), "nullopt");
}

TEST(Substitute, FollowsASplit) {
  const auto split_x = [](Source s) -> std::optional<IndexSum> {
    if (s != x) return std::nullopt;
    return Make(0, {{y, 4, 1, 0}, {z, 1, 1, 0}});
  };
  const auto extents = Extents({0, 6, 4});
  EXPECT_EQ(Text(Substitute(Make(1, {{x, 10, 1, 0}}), split_x, extents)), "y*40 + z*10 + 1");
  EXPECT_EQ(Text(Substitute(Make(0, {{x, 1, 8, 0}}), split_x, extents)), "y/2");
  EXPECT_EQ(Text(Substitute(Make(0, {{x, 1, 1, 8}}), split_x, extents)), "y%2*4 + z");
}

TEST(Substitute, JoinsDigitsBeforeItGivesUp) {
  const auto skewed = [](Source s) -> std::optional<IndexSum> {
    if (s != x) return std::nullopt;
    return Make(0, {{y, 1, 1, 0}, {z, 1, 1, 0}});
  };
  const auto extents = Extents({0, 4, 4});
  EXPECT_EQ(Text(Substitute(Make(0, {{x, 4, 4, 0}, {x, 1, 1, 4}}), skewed, extents)), "y + z");
  EXPECT_EQ(Text(Substitute(Make(0, {{x, 1, 4, 0}}), skewed, extents)), "nullopt");
}

TEST(IndexMap, PrintsItsDomainAndResults) {
  const IndexMap map{{24, 6}, {Iter(0, 1, 6), Iter(0, 2, 1, 6) + Iter(1)}};
  EXPECT_EQ(ToString(map), "(i0 < 24, i1 < 6) -> (i0/6, i0%6*2 + i1)");
}

TEST(Compose, UndoesASplitWithAFuse) {
  const IndexMap split{{24}, {Iter(0, 1, 4), Iter(0, 1, 1, 4)}};
  const IndexMap fuse{{6, 4}, {Iter(0, 4) + Iter(1)}};
  EXPECT_EQ(Compose(fuse, split), IndexMap::Identity({24}));
  EXPECT_EQ(Compose(split, fuse), IndexMap::Identity({6, 4}));
}

TEST(Inverse, UnpacksAPackedMatrix) {
  // The address of element (i, j) of a matrix of 16 x 12 that is packed in tiles of 8 x 4: (i, j) -> (i/8, j/4, i%8,
  // j%4), flat.
  const IndexMap packed{{16, 12}, {Iter(0, 96, 8) + Iter(1, 32, 4) + Iter(0, 4, 1, 8) + Iter(1, 1, 1, 4)}};
  ASSERT_TRUE(IsBijective(packed));
  EXPECT_EQ(ToString(*Inverse(packed)), "(i0 < 192) -> (i0/96*8 + i0/4%8, i0/32%3*4 + i0%4)");
}

TEST(IsBijective, RefusesOverlapsGapsAndShifts) {
  EXPECT_FALSE(IsBijective({{4, 4}, {Iter(0, 2) + Iter(1)}}));
  EXPECT_FALSE(IsBijective({{4, 4}, {Iter(0, 8) + Iter(1)}}));
  EXPECT_FALSE(IsBijective({{4}, {Iter(0) + IndexSum::Constant(1)}}));
  EXPECT_FALSE(IsBijective({{4, 4}, {Iter(0)}}));
  EXPECT_FALSE(IsBijective({{6}, {Iter(0, 1, 4), Iter(0, 1, 1, 4)}})) << "6 is not a multiple of 4";
}

TEST(IsBijective, AcceptsAReversedLoop) {
  const IndexMap reversed{{8}, {Iter(0, -1) + IndexSum::Constant(7)}};
  EXPECT_TRUE(IsBijective(reversed));
  EXPECT_EQ(Inverse(reversed), reversed);
}

TEST(Image, IsTheSmallestBox) {
  const IndexMap map{{6, 3}, {Iter(0, 2) + Iter(1) + IndexSum::Constant(-1), Iter(0, -1)}};
  const std::vector<Interval> image = Image(map);
  EXPECT_EQ(image[0].min, -1);
  EXPECT_EQ(image[0].max, 11);
  EXPECT_EQ(image[1].min, -5);
  EXPECT_EQ(image[1].max, 0);
}

TEST(Divide, FindsTheTileOfATensorizedMatmul) {
  // Divides the map of a tiled matmul, m = i0*16 + i3, n = i1*8 + i4, k = i2, into the map of the loops outside of the
  // tile and that of the tile, which has the loops i3 and i4.
  const IndexMap map{{4, 4, 32, 16, 8}, {Iter(0, 16) + Iter(3), Iter(1, 8) + Iter(4), Iter(2)}};
  const std::optional<Division> division = Divide(map, 2);
  ASSERT_TRUE(division);
  EXPECT_EQ(ToString(division->outer), "(i0 < 4, i1 < 4, i2 < 32) -> (i0, i1, i2)");
  EXPECT_EQ(ToString(division->inner), "(i0 < 16, i1 < 8) -> (i0, i1, 0)");
  EXPECT_EQ(division->tile, (std::vector<int64_t>{16, 8, 1}));
}

TEST(Divide, PadsATileThatDoesNotFillItsStride) {
  const std::optional<Division> division = Divide({{4, 3}, {Iter(0, 8) + Iter(1)}}, 1);
  ASSERT_TRUE(division);
  EXPECT_EQ(division->tile, std::vector<int64_t>{4});
  EXPECT_EQ(ToString(division->outer), "(i0 < 4) -> (i0*2)");
}

TEST(Divide, RefusesTilesThatOverlap) {
  EXPECT_FALSE(Divide({{8, 3}, {Iter(0, 2) + Iter(1)}}, 1)) << "a sliding window of 3 with stride 2";
}

}  // namespace
}  // namespace kiln
