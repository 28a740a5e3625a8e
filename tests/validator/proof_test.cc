#include "validator/proof/proof.h"

#include <gtest/gtest.h>

#include <functional>

#include "testing/matmul.h"
#include "testing/scheduled.h"
#include "tests/lang/restricted.h"

namespace kiln {
namespace {

using Verdict = Proof::Verdict;

#define EXPECT_PROVEN(original, scheduled)                              \
  do {                                                                  \
    const Proof proof = Prove(original, scheduled, {.most_points = 0}); \
    EXPECT_EQ(ToString(proof.verdict), "proven") << proof.reason;       \
  } while (false)

TEST(Proof, KnowsThatAProgramIsItself) {
  const Program p = Matmul(1024, 1000, 513);
  EXPECT_PROVEN(p, p);
}

TEST(Proof, FollowsTilesCopiesAndPartialSumsOfAnyExtent) {
  const Program p = Matmul(1024, 1024, 1024);
  const TileFactors tiles{{16, 16, 4}, {4, 16, 16}, {4, 256}};
  EXPECT_PROVEN(p, TiledMatmul(p, Target(), tiles, true).program());
}

TEST(Proof, FollowsImperfectTiles) {
  const Program p = Matmul(109, 97, 257);
  Schedule s = Scheduled(p);
  const Block matmul = s.GetBlock("matmul");
  const auto loops = s.GetLoops(matmul);
  const auto i = s.Split(loops[0], {kAuto, 16}), j = s.Split(loops[1], {kAuto, 8}),
             k = s.Split(loops[2], {kAuto, 32});
  s.Reorder({i[0], j[0], k[0], i[1], k[1], j[1]});
  s.ComputeAt(s.CacheRead(matmul, 1), k[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_PROVEN(p, s.program());
}

TEST(Proof, ComparesReadsAtComputedIndicesByBufferAndIndex) {
  const auto rows = [](int table) {
    Builder b("rows");
    const Id tables[] = {b.Input("A", DType::kF32, {7}), b.Input("B", DType::kF32, {7})},
             at = b.Input("at", DType::kI64, {1000}), out = b.Output("out", DType::kF32, {1000});
    b.Compute("rows", {{"i", 1000}}, {out, {b.Iter(0)}},
              b.Gather(tables[table], {b.Cast(DType::kIndex, b.Load(at, {b.Iter(0)}))}));
    return b.Finish();
  };
  const ProofOptions options = {.most_points = 0, .most_instances = 0};
  EXPECT_EQ(ToString(Prove(rows(0), rows(1), options).verdict), "too hard");
  EXPECT_EQ(ToString(Prove(rows(0), rows(0), options).verdict), "proven");
}

TEST(Proof, FollowsPaddingThatIsFilledFirst) {
  Builder b("pad");
  const Id in = b.Input("in", DType::kF32, {1000}), out = b.Output("out", DType::kF32, {1003});
  IndexSum inner = b.Iter(0);
  inner.offset = -2;
  b.Compute("pad", {{"i", 1003}}, {out, {b.Iter(0)}},
            b.Within({{inner, 1000}}, b.Load(in, {inner}), b.Float(DType::kF32, 0)));
  const Program p = b.Finish();
  Schedule s = Scheduled(p);
  const Block pad = s.GetBlock("pad");
  s.DecomposePadding(pad, s.GetLoops(pad)[0]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_PROVEN(p, s.program());
}

TEST(Proof, FollowsSumsThatAreStartedByABlockOfTheirOwn) {
  const Program p = Matmul(60, 50, 90);
  Schedule s = Scheduled(p);
  const Block matmul = s.GetBlock("matmul");
  const auto loops = s.GetLoops(matmul);
  s.Reorder({loops[2], loops[1]});
  s.DecomposeReduction(matmul, loops[2]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_PROVEN(p, s.program());
}

TEST(Proof, FollowsSumsThatAreFactoredAndPadded) {
  const Program p = Matmul(60, 50, 90);
  Schedule s = Scheduled(p);
  const Block matmul = s.GetBlock("matmul");
  s.PadEinsum(matmul, {16, 16, 32});
  const auto k = s.Split(s.GetLoops(matmul)[2], {kAuto, 8});
  s.Rfactor(matmul, k[1]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_PROVEN(p, s.program());
}

TEST(Proof, FollowsPartsOfParts) {
  const Program p = Matmul(6, 5, 96);
  Schedule s = Scheduled(p);
  const Block matmul = s.GetBlock("matmul");
  const auto k = s.Split(s.GetLoops(matmul)[2], {4, kAuto});
  s.Rfactor(matmul, k[0]);
  const auto lanes = s.Split(s.GetLoops(matmul)[3], {kAuto, 8});
  s.Rfactor(matmul, lanes[1]);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_PROVEN(p, s.program());
}

// Returns a matmul of 8 x 8 x 8 after `tamper` changed each of its blocks as a faulty primitive would, such as the
// kinds of its loops or the bindings of its iters.
Program Broken(const std::function<void(Program&, Id block)>& tamper) {
  Program p = Matmul(8, 8, 8);
  for (size_t n = 0; n < p.nodes.size(); ++n) {
    if (p.IsBlock(static_cast<Id>(n))) tamper(p, static_cast<Id>(n));
  }
  return p;
}

TEST(Proof, RefutesAnInstanceThatNeverEnters) {
  const Program wrong =
      Broken([](Program& p, Id block) { p.loop(p.nodes[block].parent).extent = Extent(7); });
  const Proof proof = Prove(Matmul(8, 8, 8), wrong);
  EXPECT_EQ(proof.verdict, Verdict::kRefuted);
  EXPECT_NE(proof.reason.find("an instance of block \"matmul\" never enters at (i=0, j=0, k=0)"),
            std::string::npos)
      << proof.reason;
}

TEST(Proof, TurnsAwayWhatIsRefutedAndNothingElse) {
  const Program p = Matmul(8, 8, 8);
  const Program wrong =
      Broken([](Program& p, Id block) { p.loop(p.nodes[block].parent).extent = Extent(7); });
  const absl::Status status = RejectRefuted(Prove(p, wrong), "record 3 is not exported: it");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message().find("record 3 is not exported: it does not compute what the original does: "),
            0)
      << status;
  EXPECT_TRUE(RejectRefuted(Prove(p, p), "it").ok());
  EXPECT_TRUE(RejectRefuted({Verdict::kTooHard, "too large"}, "it").ok());
}

TEST(Proof, RefutesAReductionInParallel) {
  const Program wrong =
      Broken([](Program& p, Id block) { p.loop(p.nodes[block].parent).kind = LoopKind::kParallel; });
  const Proof proof = Prove(Matmul(8, 8, 8), wrong);
  EXPECT_EQ(proof.verdict, Verdict::kRefuted);
  EXPECT_NE(proof.reason.find("iterations of loop k, which is parallel, make the same element"),
            std::string::npos)
      << proof.reason;
}

TEST(Proof, RefutesAReductionInParallelThatNobodyReads) {
  Builder b("unread");
  const Id A = b.Input("A", DType::kF32, {8}), T = b.Temporary("T", DType::kF32, {}),
           B = b.Output("B", DType::kF32, {8});
  b.Reduce("sum", {{"r", 8, IterKind::kReduction}}, Monoid::Kind::kSum, {T, {}}, b.Load(A, {b.Iter(0)}));
  b.Compute("copy", {{"i", 8}}, {B, {b.Iter(0)}}, b.Load(A, {b.Iter(0)}));
  const Program p = b.Finish();
  Program wrong = p;
  wrong.loop(wrong.nodes[kRoot].first).kind = LoopKind::kParallel;
  EXPECT_EQ(ToString(Prove(p, wrong).verdict), "refuted");
}

TEST(Proof, RefutesAnotherOperation) {
  Program wrong = Matmul(8, 8, 8);
  for (Expr& e : wrong.exprs) {
    if (e.op == Op::kMul) e.op = Op::kSub;
  }
  const Proof proof = Prove(Matmul(8, 8, 8), wrong);
  EXPECT_EQ(proof.verdict, Verdict::kRefuted);
  EXPECT_NE(proof.reason.find("sub where the original has mul"), std::string::npos) << proof.reason;
}

TEST(Proof, IsTooHardRatherThanRefutedWhereTheProgramIsTooLargeToRun) {
  Program wrong = Matmul(1024, 1024, 1024);
  for (Expr& e : wrong.exprs) {
    if (e.op == Op::kMul) e.op = Op::kSub;
  }
  const Proof proof = Prove(Matmul(1024, 1024, 1024), wrong);
  EXPECT_EQ(proof.verdict, Verdict::kTooHard);
  EXPECT_EQ(proof.reason, "sub where the original has mul");
}

// Returns the program T = A;  U = T + 1;  T = B;  C = T + U
Program WritesAnew() {
  Builder b("anew");
  const Id A = b.Input("A", DType::kF32, {1000}), B = b.Input("B", DType::kF32, {1000}),
           T = b.Temporary("T", DType::kF32, {1000}), U = b.Temporary("U", DType::kF32, {1000}),
           C = b.Output("C", DType::kF32, {1000});
  const IndexSum i = b.Iter(0);
  b.Compute("first", {{"i", 1000}}, {T, {i}}, b.Load(A, {i}));
  b.Compute("between", {{"i", 1000}}, {U, {i}}, b.Add(b.Load(T, {i}), b.Float(DType::kF32, 1)));
  b.Compute("again", {{"i", 1000}}, {T, {i}}, b.Load(B, {i}));
  b.Compute("use", {{"i", 1000}}, {C, {i}}, b.Add(b.Load(T, {i}), b.Load(U, {i})));
  return b.Finish();
}

// Returns a schedule of the program T = A;  U = T + 1;  T = B;  C = T + U in which one loop runs the first three
// blocks. T + 1 is stored to a cache, and copied from there to U.
Schedule MergedAnew() {
  Schedule s = Scheduled(WritesAnew());
  const auto loop = [&](const char* block) { return s.GetLoops(s.GetBlock(block))[0]; };
  s.CacheWrite(s.GetBlock("between"));
  s.Merge(loop("between"), loop("between.copy"));
  s.Merge(loop("first"), s.Merge(loop("between"), loop("again")));
  EXPECT_TRUE(s.ok()) << s.status();
  return s;
}

TEST(Proof, FollowsBuffersThatAreWrittenAnew) {
  Schedule s = MergedAnew();
  EXPECT_PROVEN(WritesAnew(), s.program());
  s.Parallel(s.GetLoops(s.GetBlock("again"))[0]);
  s.ComputeInline(s.CacheRead(s.GetBlock("use"), 0));
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_PROVEN(WritesAnew(), s.program());
}

TEST(Proof, RefutesWhatIsWrittenAnewBeforeItIsRead) {
  // Overwrites T before it is read, in for i: { T[i] = A[i]; U[i] = T[i] + 1; T[999 - i] = B[999 - i] }. The verdict is
  // "refuted", or "too hard" if the proof may not run instances.
  Schedule s = MergedAnew();
  Program p = s.program();
  for (Id node = 0; node < static_cast<Id>(p.nodes.size()); ++node) {
    if (!p.IsBlock(node) || p.Text(p.block(node).name) != "again") continue;
    IndexSum reversed = IndexSum::Of(Source::Loop(p.nodes[node].parent), -1);
    reversed.offset = 999;
    p.iters[p.block(node).iters.begin].binding = p.AddMark(reversed, 1000);
  }
  EXPECT_EQ(ToString(Prove(WritesAnew(), p).verdict), "refuted");
  const Proof proof = Prove(WritesAnew(), p, {.most_instances = 0});
  EXPECT_EQ(ToString(proof.verdict), "too hard");
  EXPECT_EQ(proof.reason, "versions of T are not proven to be apart");
}

// Returns the program T = the sum of A;  B = T.
Program SumAndUse() {
  Builder b("used");
  const Id A = b.Input("A", DType::kF32, {4}), T = b.Temporary("T", DType::kF32, {}),
           B = b.Output("B", DType::kF32, {1});
  b.Reduce("sum", {{"r", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {T, {}}, b.Load(A, {b.Iter(0)}));
  b.Compute("use", {{"i", 1}}, {B, {b.Iter(0)}}, b.Load(T, {}));
  return b.Finish();
}

// Returns the proof that for r: { T += A[r];  if r = `at`: B = T } computes B = the sum of A. Unless `after`, B = T
// stands before T += A[r].
Proof ProveUsed(int64_t at, bool after) {
  Schedule s = Scheduled(SumAndUse());
  const Id r = s.node(s.GetLoops(s.GetBlock("sum"))[0]), i = s.node(s.GetLoops(s.GetBlock("use"))[0]);
  Program p = s.program();
  const Id sum = p.nodes[r].first, use = p.nodes[i].first;
  p.Detach(use);
  p.Kill(i);
  p.Append(r, use);
  if (!after) {
    p.Detach(sum);
    p.Append(r, sum);
  }
  p.iters[p.block(use).iters.begin].binding =
      p.AddMark(IndexSum::Of(Source::Loop(r)) + IndexSum::Constant(-at), 1);
  return Prove(SumAndUse(), p, {.most_points = 0});
}

TEST(Proof, FollowsAReductionWhoseLoopUsesItWhenItIsComplete) {
  EXPECT_EQ(ToString(ProveUsed(3, true).verdict), "proven") << ProveUsed(3, true).reason;
}

TEST(Proof, RefutesAUseOfAReductionBeforeItIsComplete) {
  for (const auto& [at, after] : {std::pair(0, true), {2, true}, {3, false}}) {
    const Proof proof = ProveUsed(at, after);
    EXPECT_EQ(ToString(proof.verdict), "refuted") << at;
    EXPECT_NE(proof.reason.find("reads T before it is complete"), std::string::npos) << proof.reason;
  }
}

// Returns the program T[i] = A[i];  S[i] = T[i] + Σ_r B[i, r].
Program StartsFromT() {
  Builder b("starts");
  const Id A = b.Input("A", DType::kF32, {4}), B = b.Input("B", DType::kF32, {4, 6}),
           T = b.Temporary("T", DType::kF32, {4}), S = b.Output("S", DType::kF32, {4});
  const IndexSum i = b.Iter(0), r = b.Iter(1);
  b.Compute("make", {{"i", 4}}, {T, {i}}, b.Load(A, {i}));
  b.Reduce("sum", {{"i", 4}, {"r", 6, IterKind::kReduction}}, Monoid::Kind::kSum, {S, {i}}, b.Load(B, {i, r}),
           b.Load(T, {i}));
  return b.Finish();
}

// Returns the program T[i] = A[i];  S[i] = T[i] + Σ_r B[i, r] with T[i] computed in the loop i of the sum: before its
// loop r, or in each iteration of r if `within`.
Program MakesT(bool within) {
  Schedule s = Scheduled(StartsFromT());
  const Id alone = s.node(s.GetLoops(s.GetBlock("make"))[0]);
  const auto loops = s.GetLoops(s.GetBlock("sum"));
  const Id i = s.node(loops[0]), r = s.node(loops[1]);
  Program p = s.program();
  const Id make = p.nodes[alone].first;
  p.Detach(make);
  p.Kill(alone);
  p.InsertBefore(within ? p.nodes[r].first : r, make);
  p.iters[p.block(make).iters.begin].binding = p.AddMark(IndexSum::Of(Source::Loop(i)), 4);
  return p;
}

TEST(Proof, FollowsASumThatStartsAfterWhatItStartsFrom) { EXPECT_PROVEN(StartsFromT(), MakesT(false)); }

TEST(Proof, IsTooHardWhereASumStartsFromWhatItsLoopMakes) {
  const Proof proof = Prove(StartsFromT(), MakesT(true), {.most_instances = 0});
  EXPECT_EQ(ToString(proof.verdict), "too hard");
  EXPECT_EQ(proof.reason, "block \"sum\" starts from T, which is written in a loop that it starts before");
  EXPECT_EQ(ToString(Prove(StartsFromT(), MakesT(true)).verdict), "refuted");
}

TEST(Proof, KnowsPairsOfProgramsThatWereNotMadeFromEachOther) {
  EXPECT_EQ(Prove(Matmul(8, 8, 8), Matmul(8, 8, 9)).verdict, Verdict::kTooHard);
}

// Returns a schedule of S = A;  C[i] = Σ_k S[k, i], in which a pipelined loop over k loads row k of A to S and adds it
// to C.
Schedule Piped() {
  Schedule s = Scheduled(Fed());
  const auto loops = s.GetLoops(s.GetBlock("sum"));
  s.Reorder({loops[1], loops[0]});
  s.ComputeAt(s.GetBlock("load"), loops[1]);
  s.Pipeline(loops[1]);
  EXPECT_TRUE(s.ok()) << s.status();
  return s;
}

TEST(Proof, FollowsPipelinedLoops) { EXPECT_PROVEN(Fed(), Piped().program()); }

TEST(Proof, IsTooHardWhereNoRingCarriesWhatChildrenShare) {
  Program p = Piped().program();
  for (PipelineNode& pipeline : p.pipelines) pipeline.rings = {};
  const Proof proof = Prove(Fed(), p, {.most_instances = 0});
  EXPECT_EQ(ToString(proof.verdict), "too hard");
  EXPECT_EQ(proof.reason, "children of the pipelined loop k share S, which no ring carries");
}

TEST(Proof, RefutesAReadOfWhatAnotherIterationPutIntoARing) {
  Builder b("before");
  const Id A = b.Input("A", DType::kF32, {8}), T = b.Temporary("T", DType::kF32, {8}),
           U = b.Output("U", DType::kF32, {8});
  IndexSum last = b.Iter(0);
  last.offset = -1;
  b.Compute("make", {{"i", 8}}, {T, {b.Iter(0)}}, b.Load(A, {b.Iter(0)}));
  b.Compute("use", {{"i", 8}}, {U, {b.Iter(0)}},
            b.Within({{last, 8}}, b.Load(T, {last}), b.Float(DType::kF32, 0)));
  const Program before = b.Finish();
  Schedule s = Scheduled(before);
  const Loop loop = s.Merge(s.GetLoops(s.GetBlock("make"))[0], s.GetLoops(s.GetBlock("use"))[0]);
  s.Annotate(loop, "note", 1);
  Program p = s.program();
  EXPECT_PROVEN(before, p);
  for (Id node = 0; node < static_cast<Id>(p.nodes.size()); ++node) {
    if (!p.IsLoop(node) || p.loop(node).annotations.count == 0) continue;
    p.SetPipeline(node, {{0, 0}, {1, 1}}, {{T, 2}});
  }
  const Proof proof = Prove(before, p);
  EXPECT_EQ(ToString(proof.verdict), "refuted") << proof.reason;
  EXPECT_EQ(ToString(Prove(before, p, {.most_instances = 0}).verdict), "too hard");
}

}  // namespace
}  // namespace kiln
