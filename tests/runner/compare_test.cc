#include "backends/runner/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kiln {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Comparison Floats(const std::vector<float>& found, const std::vector<float>& wanted,
                  Tolerance tolerance = {}) {
  return CompareArrays("f32", found.data(), wanted.data(), static_cast<int64_t>(found.size()), tolerance);
}

TEST(Compare, AllowsAbsolutePlusRelativeToTheWanted) {
  EXPECT_TRUE(Floats({1.5f, 101.f}, {1.f, 100.f}, {.relative = 0.01, .absolute = 0.5}).agrees);
  EXPECT_FALSE(Floats({1.5f, 103.f}, {1.f, 100.f}, {.relative = 0.01, .absolute = 0.5}).agrees);
  EXPECT_NEAR(Floats({103.f}, {100.f}, {.relative = 0.01, .absolute = 0.5}).max_error, 2.0, 1e-9);
}

TEST(Compare, ReportsTheWorstElementAndHowManyDiffer) {
  const Comparison result = Floats({1, 2, 9, 4.5}, {1, 2, 3, 4}, {.absolute = 0.1});
  EXPECT_EQ(result.worst_index, 2);
  EXPECT_EQ(result.found, 9);
  EXPECT_EQ(result.wanted, 3);
  EXPECT_EQ(result.mismatches, 2);
}

TEST(Compare, NanAgreesWithNanAndInfinityWithTheSameInfinityOnly) {
  const Tolerance loose = {.relative = 1, .absolute = 1e30};
  EXPECT_TRUE(Floats({kNaN, kInf, -kInf}, {kNaN, kInf, -kInf}, loose).agrees);
  EXPECT_FALSE(Floats({kNaN}, {1}, loose).agrees);
  EXPECT_FALSE(Floats({1}, {kNaN}, loose).agrees);
  EXPECT_FALSE(Floats({kInf}, {-kInf}, loose).agrees);
  EXPECT_FALSE(Floats({1}, {kInf}, loose).agrees);
}

TEST(Compare, IntegersMustBeEqual) {
  const std::vector<int32_t> found = {1, 2}, wanted = {1, 3};
  EXPECT_FALSE(CompareArrays("i32", found.data(), wanted.data(), 2, {.absolute = 10}).agrees);
  EXPECT_TRUE(CompareArrays("i32", found.data(), found.data(), 2, {}).agrees);
}

TEST(Compare, FindsTheWorstOfManyWhereverItStands) {
  for (const size_t worst : {0, 1023, 1024, 4999}) {
    std::vector<float> wanted(5000), found(5000);
    for (size_t i = 0; i < wanted.size(); ++i) {
      wanted[i] = static_cast<float>(i % 7);
      found[i] = wanted[i] + (i % 3 == 0 ? 0.25f : 0.f);
    }
    found[worst] = wanted[worst] + 0.5f;
    const Comparison close = Floats(found, wanted, {.absolute = 1});
    EXPECT_TRUE(close.agrees);
    EXPECT_EQ(close.max_error, 0.5);
    EXPECT_EQ(close.worst_index, static_cast<int64_t>(worst));
    const Comparison strict = Floats(found, wanted, {.absolute = 0.3});
    EXPECT_EQ(strict.mismatches, 1);
    EXPECT_EQ(strict.worst_index, static_cast<int64_t>(worst));
    EXPECT_EQ(Floats(found, wanted, {.absolute = 0.1}).mismatches, worst % 3 == 0 ? 1667 : 1668);
  }
}

TEST(Compare, SignedZerosAgree) { EXPECT_TRUE(Floats({-0.f}, {0.f}).agrees); }

TEST(Finiteness, IsMissedWhereItIsWantedOnly) {
  const std::vector<float> wanted = {1, kNaN, kInf, 4, 5};
  const auto missed = [&](std::vector<float> found) {
    return FirstMissedFinite("f32", found.data(), wanted.data(), 5);
  };
  EXPECT_EQ(missed({-7, 2, 3, 1e30f, 0}), -1);
  EXPECT_EQ(missed({1, kNaN, -kInf, kInf, kNaN}), 3);
  const std::vector<int> integers = {1, 2};
  EXPECT_EQ(FirstMissedFinite("i32", integers.data(), wanted.data(), 2), -1);
}

TEST(Finiteness, IsNotWantedWhereAnotherRunHasNone) {
  std::vector<float> wanted = {1, 2, kInf};
  const std::vector<float> other = {9, kInf, 3};
  WantFiniteWhere("f32", other.data(), wanted.data(), 3);
  EXPECT_EQ(wanted[0], 1);
  EXPECT_FALSE(std::isfinite(wanted[1]) || std::isfinite(wanted[2]));
}

}  // namespace
}  // namespace kiln
