#include "gtest/gtest.h"
#include "lang/analysis/annotations.h"
#include "lang/program/builder.h"
#include "lang/schedule/schedule.h"
#include "lang/text/text.h"
#include "testing/same_results.h"
#include "tests/lang/restricted.h"
#include "tests/support/golden.h"

namespace kiln {
namespace {

// Returns the program C[h] = the sum, or the largest, of X[h + i - 1] * W[i], with zeros around X.
Program Window(Monoid::Kind monoid = Monoid::Kind::kSum) {
  Builder b("window");
  const Id x = b.Input("X", DType::kF32, {14}), w = b.Input("W", DType::kF32, {3}),
           c = b.Output("C", DType::kF32, {14});
  const IndexSum y = b.Iter(0) + b.Iter(1) + IndexSum::Constant(-1);
  const Id pixel = b.Within({{y, 14}}, b.Load(x, {y}), b.Float(DType::kF32, 0));
  b.Reduce("conv", {{"h", 14}, {"i", 3, IterKind::kReduction}}, monoid, {c, {b.Iter(0)}},
           b.Mul(pixel, b.Load(w, {b.Iter(1)})));
  return b.Finish();
}

void Assume(Schedule& s) { s.AssumeFinite(s.GetBlock("conv")); }

TEST(AssumeFinite, ChangesTheAnnotationAlone) {
  Schedule lemma = Scheduled(Window()), annotated = Scheduled(Window());
  Assume(lemma);
  annotated.Annotate(annotated.GetBlock("conv"), kAssumeFinite, 1);
  ASSERT_TRUE(lemma.ok()) << lemma.status();
  EXPECT_EQ(ToString(lemma.program()), ToString(annotated.program()));
  ExpectSameResults(Window(), lemma.program());
}

TEST(AssumeFinite, IsNamedByTheAssumptionsOfItsSteps) {
  Schedule s = Scheduled(Window());
  const Block conv = s.GetBlock("conv");
  s.Annotate(conv, kFastMath, 1);
  s.Annotate(conv, kAssumeFinite, 0);
  EXPECT_EQ(AssumptionsOf(s.steps()), "");
  s.Annotate(conv, kAssumeFinite, 1);  // older schedules set the annotation directly
  EXPECT_EQ(AssumptionsOf(s.steps()), kFiniteFactors);
  Schedule twice = Scheduled(Window());
  Assume(twice);
  Assume(twice);
  ASSERT_TRUE(twice.ok()) << twice.status();
  EXPECT_EQ(AssumptionsOf(twice.steps()), kFiniteFactors);
  EXPECT_STREQ(FindPrimitive("skip-zeros")->assumes, kFiniteFactors);
}

TEST(AssumeFinite, IsRefusedWhereNoTermCouldBeLeftOut) {
  Refusals refusals;
  refusals.Add("a step has transformed the program", Window(), [](Schedule& s) {
    s.Split(s.GetLoops(s.GetBlock("conv"))[0], {7, 2});
    Assume(s);
  });
  refusals.Add("the block is not a sum", Window(Monoid::Kind::kMax), Assume);
  refusals.Add("the block is not a reduction", Packed(),
               [](Schedule& s) { s.AssumeFinite(s.GetBlock("copy")); });
  ExpectGolden("lang/assume_finite_refusals.txt", refusals.text());
}

}  // namespace
}  // namespace kiln
