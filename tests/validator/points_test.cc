// Tests the algebra's answers to questions about integer points (validator/proof/algebra.h) against brute force.
#include <gtest/gtest.h>

#include "tests/support/random_points.h"
#include "tests/support/repeats.h"
#include "validator/proof/algebra.h"
#include "validator/proof/decide.h"
#include "validator/proof/enumerate.h"

namespace kiln::proof {
namespace {

// Returns a decider that uses the algebra alone, without another prover.
Decider Algebra() { return Decider(nullptr, 0, absl::InfiniteFuture()); }

TEST(Points, TilesCoverWhatTheyAreMadeFrom) {
  Relation tiles, all;
  const IndexSum outer = tiles.points.Add(7), inner = tiles.points.Add(16);
  tiles.results = {outer * 16 + inner};
  tiles.points.conditions.push_back({tiles.results[0], 109});
  all.results = {all.points.Add(109)};
  EXPECT_EQ(Algebra().Covers(all, {tiles}).answer, Answer::kYes);
  EXPECT_EQ(Algebra().Determines({tiles}, {{outer, inner}}).answer, Answer::kYes);
  all.points.variables[0].extent = 113;
  EXPECT_EQ(Algebra().Covers(all, {tiles}).answer, Answer::kUnknown);
  const Reply reply = EnumeratingProver(1000).Covers(all, {tiles});
  EXPECT_EQ(reply.answer, Answer::kNo);
  EXPECT_EQ(reply.point, std::vector<int64_t>{109});
}

TEST(Points, ASumThatFillsTilesIsWithinThem) {
  Relation tiles;
  tiles.results = {tiles.points.Add(4) * 4 + tiles.points.Add(4)};
  Points points;
  const IndexSum sum = points.Add(8) + points.Add(9);  // 0 .. 15
  const auto values = Solve(points, {sum}, tiles);
  ASSERT_TRUE(values.has_value());
  for (const IndexSum& value : *values) EXPECT_EQ(BoundsOn(points, value).max, 3);
}

TEST(Points, AConditionMayContradictAnother) {
  Points points;
  const IndexSum i = points.Add(1 << 30), j = points.Add(1 << 30);
  points.conditions = {{i + j * -1, 1}, {i + j * -1 + IndexSum::Constant(-1), 1 << 30}};
  EXPECT_EQ(Algebra().Empty(points).answer, Answer::kYes);
}

TEST(Points, AConditionBoundsItsMultiplesAndParts) {
  Points points;
  const IndexSum outer = points.Add(9), row = outer * 17 + points.Add(17);
  points.conditions = {{row, 112}};
  EXPECT_EQ(BoundsOn(points, outer).max, 6);
  EXPECT_EQ(Tighten(points).variables[0].extent, 7);
  EXPECT_EQ(BoundsOn(points, row * 2 + points.Add(7)).max, 2 * 111 + 6);
  EXPECT_EQ(BoundsOn(points, row * -3).min, -3 * 111);
}

// The algebra shows that 32 threads cover 16 rows of 6 elements in three rounds, though 32 is no multiple of 6. If the
// last element is missing, the algebra does not know, and enumeration answers no.
TEST(Points, ThreadsThatCrossRowsCoverThem) {
  Relation copied, all;
  const IndexSum round = copied.points.Add(3), thread = copied.points.Add(32),
                 number = copied.points.Define(round * 32 + thread, 96);
  const int32_t id = number.splits[0].source.id;
  copied.results = {{0, {{Source::Iter(id), 1, 6}}}, {0, {{Source::Iter(id), 1, 1, 6}}}};
  all.results = {all.points.Add(16), all.points.Add(6)};
  EXPECT_EQ(Algebra().Covers(all, {copied}).answer, Answer::kYes);
  copied.points.variables[id].extent = 95;  // the last element is missing
  EXPECT_EQ(Algebra().Covers(all, {copied}).answer, Answer::kUnknown);
  EXPECT_EQ(EnumeratingProver(1000).Covers(all, {copied}).answer, Answer::kNo);
}

TEST(Points, WhatHoldsAtSomePointsIsNotKnown) {
  Points points;
  const IndexSum i = points.Add(10);
  EXPECT_EQ(Algebra().Holds(points, i, 10), Truth::kAlways);
  EXPECT_EQ(Algebra().Holds(points, i, 5), Truth::kUnknown);
  EXPECT_EQ(Algebra().Holds(points, i + IndexSum::Constant(5), 5), Truth::kNever);
}

TEST(Points, TheAlgebraAgreesWithBruteForce) {
  RandomDice dice(Engine({3}));
  EnumeratingProver brute(1 << 20);
  Decider algebra = Algebra();
  int yes = 0;
  for (int i = 0; i < Repeats(20000); ++i) {
    const RandomQuestion q = DrawQuestion(dice);
    const Answer empty = algebra.Empty(q.f.points).answer, covers = algebra.Covers(q.f, q.g).answer,
                 determines = algebra.Determines({q.f}, {q.variables}).answer;
    if (empty == Answer::kYes) EXPECT_EQ(brute.Empty(q.f.points).answer, Answer::kYes) << ToString(q);
    if (covers == Answer::kYes) EXPECT_EQ(brute.Covers(q.f, q.g).answer, Answer::kYes) << ToString(q);
    if (determines == Answer::kYes) {
      EXPECT_EQ(brute.Determines({q.f}, {q.variables}).answer, Answer::kYes) << ToString(q);
    }
    const Relation joined = JoinDigits({Tighten(q.f.points), q.f.results});
    EXPECT_EQ(brute.Covers(q.f, {joined}).answer, Answer::kYes) << ToString(q);
    EXPECT_EQ(brute.Covers(joined, {q.f}).answer, Answer::kYes) << ToString(q);
    yes += (empty == Answer::kYes) + (covers == Answer::kYes) + (determines == Answer::kYes);
  }
  EXPECT_GT(yes, Repeats(2000));
}

}  // namespace
}  // namespace kiln::proof
