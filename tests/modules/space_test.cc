#include "modules/space.h"

#include <gtest/gtest.h>

#include "lang/builder.h"
#include "lang/text.h"
#include "modules/tiling.h"

namespace kiln {
namespace {

Program Matmul() {
  Builder b("matmul");
  const Id x = b.Input("A", DType::kF32, {64, 64}), y = b.Input("B", DType::kF32, {64, 64});
  const Id z = b.Output("C", DType::kF32, {64, 64});
  const Sum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);
  b.Reduce("matmul", {{"i", 64}, {"j", 64}, {"k", 64, IterKind::kReduction}}, Monoid::Kind::kSum, {z, {i, j}},
           b.Mul(b.Load(x, {i, k}), b.Load(y, {k, j})));
  return b.Finish();
}

// The steps of a space under one seed, as text.
std::string Steps(const Space& space, const Target& target = {}) {
  RandomDice dice(Engine{7});
  RandomChooser chooser(dice);
  Schedule s(Matmul(), target, chooser);
  space(s);
  EXPECT_TRUE(s.ok()) << s.status();
  std::string text;
  for (const Step& step : s.steps()) text += ToString(step) + "\n";
  return text;
}

std::string ErrorOf(absl::string_view text) { return std::string(ParseSpace(text).status().message()); }

TEST(Space, StringMeansTheSameAsTheFunctionsItNames) {
  const auto parsed = ParseSpace(
      "each-block(auto-inline | multi-level-tiling structure=SSRSRS max-innermost=64) | "
      "random-compute-location |"
      " parallelize-vectorize-unroll max-vector=64");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const Space composed = [](Schedule& s) {
    EachBlock(s, {AutoInline(), MultiLevelTiling({.structure = "SSRSRS", .max_innermost = 64})});
    RunSpace(s, "random-compute-location", RandomComputeLocation);
    RunSpace(s, "parallelize-vectorize-unroll", ParallelizeVectorizeUnroll({.max_vector = 64}));
  };
  EXPECT_EQ(Steps(*parsed), Steps(composed));
}

TEST(Space, DefaultOfACpuParses) {
  const auto space = ParseSpace(DefaultSpace(Target()));
  ASSERT_TRUE(space.ok()) << space.status();
  EXPECT_NE(Steps(*space).find("sample-perfect-tile"), std::string::npos);
}

TEST(Space, OptionsReachTheModule) {
  const auto space = ParseSpace("parallelize-vectorize-unroll max-unroll=3,5");
  ASSERT_TRUE(space.ok()) << space.status();
  EXPECT_NE(Steps(*space).find("values=[3 5]"), std::string::npos);
}

TEST(Space, ErrorsNameTheColumnAndWhatIsKnown) {
  EXPECT_EQ(
      ErrorOf("each-block(auto-inlin)"),
      "space:1:22: there is no module \"auto-inlin\"; known are each-block, add-rfactor, auto-inline, "
      "channels-in-blocks, cpu, cpu-avx2, cpu-avx512, cpu-dots, inline-constant-scalars, multi-level-tiling, "
      "multi-level-tiling-with-intrinsic, pad-to-tile, "
      "parallelize-vectorize-unroll, pin, random-compute-location, rows-at-once, "
      "skip-padding, skip-zeros, stream-results, vectorize-rows");
  EXPECT_EQ(ErrorOf("auto-inline"),
            "space:1:12: auto-inline is a module of a block; write each-block(auto-inline)");
  EXPECT_EQ(ErrorOf("each-block(cpu)"),
            "space:1:15: cpu is a module of a program; it stands outside of each-block");
  EXPECT_EQ(ErrorOf("each-block(auto-inline"), "space:1:23: wanted | or )");
  EXPECT_EQ(ErrorOf("cpu cpu"), "space:1:8: wanted = after cpu");
  EXPECT_EQ(ErrorOf("parallelize-vectorize-unroll max-vector=wide"),
            "space:1:45: option max-vector of module parallelize-vectorize-unroll is \"wide\"; it "
            "takes a number");
  EXPECT_EQ(ErrorOf("each-block(multi-level-tiling levels=3)"),
            "space:1:39: module multi-level-tiling has no option \"levels\"; it has structure, "
            "max-innermost, max-reduction, waste-percent, epilogue");
  EXPECT_EQ(
      ErrorOf(""),
      "space:1:1: there is no module \"\"; known are each-block, add-rfactor, auto-inline, "
      "channels-in-blocks, cpu, cpu-avx2, cpu-avx512, cpu-dots, inline-constant-scalars, multi-level-tiling, "
      "multi-level-tiling-with-intrinsic, pad-to-tile, "
      "parallelize-vectorize-unroll, pin, random-compute-location, rows-at-once, "
      "skip-padding, skip-zeros, stream-results, vectorize-rows");
}

TEST(Space, EndsAtItsLastCharacterAndNotAtAZero) {
  EXPECT_FALSE(ParseSpace(absl::string_view("cpu\0 | nonsense", 15)).ok());
}

}  // namespace
}  // namespace kiln
