// Tests sampling sites, and arithmetic on sampled values, through the API of schedules.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "testing/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

Program Doubles(int64_t extent, DType type = DType::kF32) {
  Builder b("twice");
  const Id A = b.Input("A", type, {extent}), B = b.Output("B", type, {extent});
  const Id x = b.Load(A, {b.Iter(0)});
  b.Compute("twice", {{"i", extent}}, {B, {b.Iter(0)}}, b.Add(x, x));
  return b.Finish();
}

class SampledTest : public testing::Test {
 protected:
  explicit SampledTest() { target.vector_registers = 4, target.vector_bytes = 32; }
  Schedule On(int64_t extent, DType type = DType::kF32) { return Scheduled(Doubles(extent, type), target); }
  static const Decision& Last(const Schedule& s) { return s.steps().back().decision; }

  Target target;
};

TEST_F(SampledTest, SampleTileFeedsAnImperfectSplit) {
  for (const int64_t extent : {7, 109, 197, 257, 1000, 50257}) {
    Schedule s = On(extent);
    const Loop i = s.GetLoops(s.GetBlock("twice"))[0];
    s.Split(i, {s.SampleTile(i, {.parts = 3, .innermost = 16, .waste = 0.1})});
    ASSERT_TRUE(s.ok()) << s.status();
    ExpectSameResults(Doubles(extent), s.program());
  }
}

TEST_F(SampledTest, RefusesAWasteThatIsNone) {
  for (const double waste : {-0.1, 16.5}) {
    Schedule s = On(10);
    s.SampleTile(s.GetLoops(s.GetBlock("twice"))[0], {.parts = 2, .waste = waste});
    EXPECT_EQ(s.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(s.status().message()), HasSubstr("waste="));
  }
}

TEST_F(SampledTest, TheTargetBoundsABudget) {
  // The bound "registers" limits the innermost factor of a sampled tile to what the target's registers hold: 4
  // registers of 32 bytes hold 32 floats, or 16 doubles.
  for (const auto& [type, most] : {std::pair(DType::kF32, 32), std::pair(DType::kF64, 16)}) {
    int64_t largest = 0;
    for (int i = 0; i < 200; ++i) {
      Schedule s = On(64, type);
      const Loop loop = s.GetLoops(s.GetBlock("twice"))[0];
      s.SamplePerfectTile(loop, {.parts = 2, .innermost = 0, .bound = "registers"});
      largest = std::max(largest, Last(s).back());
    }
    EXPECT_EQ(largest, most);
  }
  Schedule s = On(64);
  s.SamplePerfectTile(s.GetLoops(s.GetBlock("twice"))[0], {.bound = "rooms"});
  EXPECT_EQ(s.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.status().message()), HasSubstr("the target has no bound \"rooms\""));
}

TEST_F(SampledTest, ProductsOfFactorsKeepBoundsAndMultiples) {
  for (int i = 0; i < 100; ++i) {
    Schedule s = On(96);
    const Loop loop = s.GetLoops(s.GetBlock("twice"))[0];
    s.SamplePerfectTile(loop, {.parts = 3, .innermost = 0, .most = {0, 24}, .multiple = {4}});
    ASSERT_TRUE(s.ok()) << s.status();
    EXPECT_TRUE(Last(s)[2] % 4 == 0 && Last(s)[1] * Last(s)[2] <= 24 &&
                Last(s)[0] * Last(s)[1] * Last(s)[2] == 96);
  }
}

TEST_F(SampledTest, RefusesBoundsThatNothingKeeps) {
  Schedule s = On(10);
  s.SamplePerfectTile(s.GetLoops(s.GetBlock("twice"))[0], {.parts = 2, .multiple = {4}});
  EXPECT_THAT(Refusal(s),
              HasSubstr("there are no 2 factors of 10, the last at most 64, the last a multiple of 4"));
}

TEST_F(SampledTest, ArithmeticIsRecordedAndDoneAnewWithEveryDraw) {
  Schedule s = On(1000);
  const Loop i = s.GetLoops(s.GetBlock("twice"))[0];
  const Value tile = s.SampleTile(i, {.parts = 3, .innermost = 8}), lanes = s.SampleCategorical({2, 4});
  const Value inner = s.Multiply({s.Part(tile, -1), lanes}), sum = s.Add({inner, lanes, 1});
  const auto parts = s.Split(i, {kAuto, sum});
  ASSERT_TRUE(s.ok()) << s.status();
  const auto& steps = s.steps();
  const int64_t last = steps[2].decision.back(), drawn = steps[3].decision[0];
  EXPECT_EQ(s.program().loop(s.node(parts[1])).extent.Known(), last * drawn + drawn + 1);
  EXPECT_EQ(ToString(steps[5]), "v3 = multiply v2 v1");
  EXPECT_EQ(ToString(steps[6]), "v4 = add v3 v1 1");
  ExpectSameResults(Doubles(1000), s.program());
  EXPECT_EQ(s.ExtentOf(parts[0]), 0) << "what depends on a sum of sampled values is tainted";
}

TEST_F(SampledTest, RefusesAPartThatATileLacks) {
  Schedule s = On(12);
  const Loop i = s.GetLoops(s.GetBlock("twice"))[0];
  s.Part(s.SamplePerfectTile(i, {.parts = 2}), 2);
  EXPECT_THAT(Refusal(s), HasSubstr("there is no number 2 of "));
}

TEST_F(SampledTest, RefusesProductsAndSumsBeyondWhatAnExtentMayBe) {
  Schedule s = On(12);
  s.Multiply({int64_t{1} << 30, 1 << 20});
  EXPECT_THAT(Refusal(s), HasSubstr("the numbers 1073741824 1048576 give more than 2^40"));
  Schedule t = On(12);
  t.Add({int64_t{1} << 40, 1});
  EXPECT_THAT(Refusal(t), HasSubstr("give more than 2^40"));
}

}  // namespace
}  // namespace kiln
