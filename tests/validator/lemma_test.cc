// Tests that after a lemma, proofs, symbolic runs and replays compare programs with the one that the lemma made.
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lang/program/builder.h"
#include "trace/replay.h"
#include "trace/text.h"
#include "validator/proof/proof.h"

namespace kiln {
namespace {

Program HalfMatmul() {
  Builder b("halves");
  const Id x = b.Input("x", DType::kF16, {8, 16}), w = b.Input("w", DType::kF16, {16, 8}),
           y = b.Output("y", DType::kF16, {8, 8});
  const IndexSum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  b.Reduce("sum", {{"i", 8}, {"j", 8}, {"k", 16, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i, j}},
           b.Mul(b.Load(x, {i, k}), b.Load(w, {k, j})));
  return b.Finish();
}

constexpr char kTrace[] =
    "kiln.trace v2\n"
    "b0 = get-block \"sum\"\n"
    "b1 = accumulate-in b0 \"f32\"\n"
    "l0, l1, l2 = get-loops b0\n"
    "l3, l4 = split l2 -1 4\n"
    "reorder l3 l0\n"
    "l5, l6 = get-loops b1\n"
    "vectorize l6\n";

TEST(Lemma, MakesTheReferenceOfAProof) {
  const Program original = HalfMatmul();
  const Trace trace = *ParseTrace(kTrace);
  const Target target;
  const auto replayed = Replay(trace, original, target);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  const Program& reference = replayed->state.Reference(original);
  EXPECT_EQ(Prove(reference, replayed->program()).verdict, Proof::Verdict::kProven);
  EXPECT_NE(Prove(original, replayed->program()).verdict, Proof::Verdict::kProven);
}

// Returns the program C[h] = the sum of X[h + i - 1] * W[i], with zeros around X.
Program Window() {
  Builder b("window");
  const Id x = b.Input("X", DType::kF32, {14}), w = b.Input("W", DType::kF32, {3}),
           c = b.Output("C", DType::kF32, {14});
  const IndexSum y = b.Iter(0) + b.Iter(1) + IndexSum::Constant(-1);
  b.Reduce("conv", {{"h", 14}, {"i", 3, IterKind::kReduction}}, Monoid::Kind::kSum, {c, {b.Iter(0)}},
           b.Mul(b.Within({{y, 14}}, b.Load(x, {y}), b.Float(DType::kF32, 0)), b.Load(w, {b.Iter(1)})));
  return b.Finish();
}

TEST(Lemma, NamesInAProofWhatItAssumes) {
  const Program original = Window();
  const Target target;
  for (const absl::string_view step : {"", "assume-finite b0\n", "annotate-block b0 \"finite\" value=1\n"}) {
    const Trace trace = *ParseTrace(absl::StrCat("kiln.trace v2\nb0 = get-block \"conv\"\n", step,
                                                 "l0, l1 = get-loops b0\nvectorize l0\n"));
    const auto replayed = Replay(trace, original, target);
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    const Proof proof = Prove(original, *replayed);
    EXPECT_EQ(proof.verdict, Proof::Verdict::kProven) << step;
    EXPECT_EQ(proof.assumptions, step.empty() ? "" : kFiniteFactors);
  }
}

}  // namespace
}  // namespace kiln
