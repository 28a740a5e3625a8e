// After a lemma the program that it made is the reference: of proofs, of shadow runs, of replays.
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
  const Sum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
  b.Reduce("sum", {{"i", 8}, {"j", 8}, {"k", 16, IterKind::kReduction}}, Monoid::Kind::kSum, {y, {i, j}},
           b.Mul(b.Load(x, {i, k}), b.Load(w, {k, j})));
  return b.Finish();
}

constexpr char kTrace[] =
    "kiln.trace v1\n"
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

}  // namespace
}  // namespace kiln
