// Tests intrinsics and their descriptions, and tensorize, which replaces a tile by a call of an intrinsic that computes
// the same.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lang/patterns/match.h"
#include "lang/program/builder.h"
#include "lang/text/hash.h"
#include "lang/text/serialize.h"
#include "testing/same_results.h"
#include "tests/support/tiny_intrinsics.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
constexpr auto kI32 = DType::kI32, kF64 = DType::kF64;

// Returns the program C[i, j] sum= A[i, k] * B[k, j], or A[i, k] * B[j, k] if `transposed`. `monoid` replaces the sum.
Program Matmul(DType type = kI32, int64_t m = 4, bool transposed = false,
               Monoid::Kind monoid = Monoid::Kind::kSum) {
  Builder b("matmul");
  const Id A = b.Input("A", type, {m, 4}), B = b.Input("B", type, {4, 4}), C = b.Output("C", type, {m, 4});
  const IndexSum i = b.Iter(0), j = b.Iter(1), r = b.Iter(2);
  b.Reduce("matmul", {{"i", m}, {"j", 4}, {"k", 4, IterKind::kReduction}}, monoid, {C, {i, j}},
           b.Mul(transposed ? b.Load(B, {j, r}) : b.Load(B, {r, j}), b.Load(A, {i, r})));
  return b.Finish();
}

// Splits the loops i, j and k of a matmul into tiles of the given sizes. Returns the six loops, outermost first: those
// over tiles, and then those within a tile.
std::vector<Loop> Tile(Schedule& s, const std::vector<int>& tiles) {
  std::vector<Loop> outer, inner;
  const std::vector<Loop> loops = s.GetLoops(s.GetBlock("matmul"));
  for (size_t i = 0; i < loops.size(); ++i) {
    const auto parts = s.Split(loops[i], {kAuto, Factor(tiles[i])});
    outer.push_back(parts[0]);
    inner.push_back(parts[1]);
  }
  outer.insert(outer.end(), inner.begin(), inner.end());
  s.Reorder(outer);
  return outer;
}

std::string WhyNot(Program p, const std::vector<int>& tiles, const char* intrinsic) {
  Schedule s = Scheduled(std::move(p));
  s.Tensorize(Tile(s, tiles)[3], intrinsic);
  const std::string message = Refusal(s);
  return message.substr(0, message.find('\n'));
}

TEST(Tensorize, ATileBecomesACallAndKeepsItsMeaning) {
  for (const bool transposed : {false, true}) {
    Schedule s = Scheduled(Matmul(kI32, 4, transposed));
    const std::vector<Loop> loops = Tile(s, {2, 2, 2});
    s.Reorder({loops[5], loops[3]});
    const Block tile = s.Blockize(loops[5]);
    s.Tensorize(tile, "tiny.mma.i32x2");
    ASSERT_TRUE(s.ok()) << s.status();
    EXPECT_THAT(ToString(s.program()), HasSubstr("block matmul.tile intrinsic tiny.mma.i32x2 {"));
    EXPECT_THAT(ToString(s.program()), HasSubstr(R"(
        for k.1 < 2 unrolled {
          for i.1 < 2 unrolled {
            for j.1 < 2 vectorized {
              block matmul {
                spatial i < 4 = i*2 + i.1)"));
    ExpectSameResults(Matmul(kI32, 4, transposed), s.program());
  }
}

TEST(Tensorize, TextHashAndBytesKeepTheCall) {
  Schedule s = Scheduled(Matmul());
  const std::vector<Loop> loops = Tile(s, {2, 2, 2});
  const Block tile = s.Blockize(loops[3]);
  const Program before = s.program();
  s.Tensorize(tile, "tiny.mma.i32x2");
  ASSERT_TRUE(s.ok()) << s.status();
  Program plain = s.program();
  plain.block(s.node(tile)).intrinsic = kNone;
  EXPECT_FALSE(Equal(plain, s.program()));
  const auto parsed = ParseProgram(ToString(s.program()));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(Equal(*parsed, s.program()));
  const auto read = Deserialize(Serialize(s.program()));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(Equal(*read, s.program()));
}

TEST(Tensorize, MatchesPartsOfLargerBuffersInOtherOrders) {
  // Tensorizes a tile of loop k of a matmul to a dot product: within this tile, the iters i and j are fixed.
  Schedule s = Scheduled(Matmul(kF64));
  const auto k = s.Split(s.GetLoops(s.GetBlock("matmul"))[2], {2, 2});
  const Block tile = s.Blockize(k[1]);
  s.Tensorize(tile, "tiny.dot.f64x2");
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(Matmul(kF64), s.program());
  const auto match = MatchIntrinsic(s.program(), s.node(tile), *FindIntrinsic("tiny.dot.f64x2"));
  ASSERT_TRUE(match.ok());
  EXPECT_EQ(match->iter_of, std::vector<int>{2});
}

TEST(Tensorize, SaysWhatDoesNotMatch) {
  EXPECT_EQ(
      WhyNot(Matmul(), {2, 4, 2}, "tiny.mma.i32x2"),
      "step 7 does not apply: block \"matmul.tile\" does not match tiny.mma.i32x2: found a tile of i 2, j 4, k 2; "
      "wanted i 2, j 2, k 2");
  EXPECT_EQ(
      WhyNot(Matmul(), {2, 2, 2}, "tiny.mma.f64x2"),
      "step 7 does not apply: block \"matmul.tile\" does not match tiny.mma.f64x2: found mul of i32; wanted of f64");
  EXPECT_EQ(
      WhyNot(Matmul(kI32, 4, false, Monoid::Kind::kMax), {2, 2, 2}, "tiny.mma.i32x2"),
      "step 7 does not apply: block \"matmul.tile\" does not match tiny.mma.i32x2: found a max; wanted a sum");
  EXPECT_EQ(
      WhyNot(Matmul(), {1, 1, 2}, "tiny.sum.i32x2"),
      "step 7 does not apply: block \"matmul.tile\" does not match tiny.sum.i32x2: found mul; wanted load");
  EXPECT_EQ(
      WhyNot(Matmul(), {1, 2, 1}, "tiny.dot.i32x2"),
      "step 7 does not apply: block \"matmul.tile\" does not match tiny.dot.i32x2: its iters are of other kinds than "
      "those of tiny.dot.i32x2");
  EXPECT_THAT(WhyNot(Matmul(), {1, 2, 1}, "tiny.copy.i32x2"), HasSubstr("found a sum; wanted a store"));
}

TEST(Tensorize, RefusesOperandsElsewhere) {
  Schedule s = Scheduled(Matmul());
  const std::vector<Loop> loops = Tile(s, {2, 2, 2});
  s.CacheRead(s.GetBlock("matmul"), 1, "shared");
  s.Tensorize(loops[3], "tiny.mma.i32x2");
  EXPECT_THAT(Refusal(s), HasSubstr("operand A is A.cache: found in shared; wanted in global"));
}

// Returns the program C[i, j] sum= f32(A[i, k]) * f32(B[k, j]) of the size of one mma, with A = 2 and B = 3. A, B and C
// are fragments of a warp, and `layout` is the layout of A.
Program Fragments(const std::string& layout) {
  const auto program = ParseProgram(R"(kiln.program v1
program frag
parameters X
buffer A: f16[16, 16] temporary warp/warp )" +
                                    layout + R"(
buffer B: f16[16, 8] temporary warp/warp layout (d1*4 + d0/2%4 < 32, d0/8*2 + d0%2 < 4) kinds (lane, register)
buffer C: f32[16, 8] temporary warp/warp layout (d0%8*4 + d1/2 < 32, d0/8*2 + d1%2 < 4) kinds (lane, register)
buffer X: f32[16, 8] output
for i < 16 { for k < 16 { block a { spatial i < 16 = i spatial k < 16 = k A[i, k] = f16(2) } } }
for k < 16 { for j < 8 { block b { spatial k < 16 = k spatial j < 8 = j B[k, j] = f16(3) } } }
for i < 16 { for j < 8 { for k < 16 { block mma {
  spatial i < 16 = i spatial j < 8 = j reduction k < 16 = k
  C[i, j] sum= f32(A[i, k])*f32(B[k, j]) } } } }
for i < 16 { for j < 8 { block store { spatial i < 16 = i spatial j < 8 = j X[i, j] = C[i, j] } } }
)");
  EXPECT_TRUE(program.ok()) << program.status();
  return *program;
}

TEST(Tensorize, WarpsMultiplyFragments) {
  const Program p =
      Fragments("layout (d0%8*4 + d1/2%4 < 32, d0/8*2 + d1/8*4 + d1%2 < 8) kinds (lane, register)");
  Schedule s = Scheduled(p);
  s.Tensorize(s.GetLoops(s.GetBlock("mma"))[0], "mma.m16n8k16.compute");
  s.Tensorize(s.GetLoops(s.GetBlock("store"))[0], "mma.m16n8k16.store");
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSameResults(p, s.program());
}

TEST(Tensorize, RefusesAnotherLayout) {
  Schedule s = Scheduled(
      Fragments("layout (d1%8*4 + d0/2%4 < 32, d0/8*2 + d1/8*4 + d0%2 < 8) kinds (lane, register)"));
  s.Tensorize(s.GetLoops(s.GetBlock("mma"))[0], "mma.m16n8k16.compute");
  EXPECT_THAT(Refusal(s),
              HasSubstr("operand A is A: found layout (d1%8*4 + d0/2%4, d0/8*2 + d1/8*4 + d0%2); wanted "
                        "(d0%8*4 + d1/2%4, d0/8*2 + d1/8*4 + d1%2)"));
}

TEST(Tensorize, RefusesGuardsInside) {
  const auto refusal = [](const char* inner) {
    const auto program = ParseProgram(std::string(R"(kiln.program v1
program guarded
parameters A, B
buffer A: i32[7] input
buffer B: i32[7] output
for io < 4 { block tile { spatial o < 4 = io for ii < 2 { block b { )") +
                                      inner + " } } } }\n");
    EXPECT_TRUE(program.ok()) << program.status();
    Schedule s = Scheduled(*program);
    s.Tensorize(s.GetBlock("tile"), "tiny.copy.i32x2");
    return Refusal(s);
  };
  EXPECT_THAT(refusal("spatial i < 7 = o*2 + ii B[i] = A[i]"),
              HasSubstr("o*2 + ii < 7 is a condition on both sides of it: the tile is imperfect"));
  EXPECT_THAT(refusal("let m = ii < 1 spatial i < 7 = o where m B[i] = A[i]"),
              HasSubstr("there is a guard inside"));
  EXPECT_THAT(refusal("spatial i < 8 = o*2 + ii domain (i < 7) B[i] = A[i]"),
              HasSubstr("there is a guard inside"));
}

TEST(Tensorize, RefusesWhatIsNoTile) {
  Schedule s = Scheduled(Matmul());
  s.Tensorize(s.GetBlock("matmul"), "tiny.mma.i32x2");
  EXPECT_THAT(Refusal(s), HasSubstr("block \"matmul\" is not a tile: blockize a loop first"));
  Schedule again = Scheduled(Matmul());
  const Block tile = again.Blockize(Tile(again, {2, 2, 2})[3]);
  again.Tensorize(tile, "tiny.mma.i32x2");
  again.Tensorize(tile, "tiny.mma.i32x2");
  EXPECT_THAT(Refusal(again), HasSubstr("block \"matmul.tile\" is a call of tiny.mma.i32x2 already"));
  Schedule unknown = Scheduled(Matmul());
  unknown.Tensorize(unknown.Blockize(Tile(unknown, {2, 2, 2})[3]), "tiny.nothing");
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(unknown.status().message(),
              HasSubstr("unknown intrinsic \"tiny.nothing\"; known: amx.bf16.compute"));
}

TEST(Tensorize, StepsThatWouldChangeACallAreRefused) {
  const auto tensorized = [](const std::function<void(Schedule&, Block)>& step) {
    Schedule s = Scheduled(Matmul());
    const Block block = s.GetBlock("matmul"), tile = s.Blockize(Tile(s, {2, 2, 2})[3]);
    s.Tensorize(tile, "tiny.mma.i32x2");
    EXPECT_TRUE(s.ok()) << s.status();
    step(s, block);
    return s;
  };
  const auto changed = HasSubstr(
      "it would change the inside of a call: block \"matmul.tile\" does not match tiny.mma.i32x2: ");
  EXPECT_THAT(
      Refusal(tensorized([](Schedule& s, Block b) { s.Reorder({s.GetLoops(b)[2], s.GetLoops(b)[0]}); })),
      changed);
  EXPECT_THAT(Refusal(tensorized([](Schedule& s, Block b) { s.CacheRead(b, 0, "shared"); })), changed);
  const Schedule copied = tensorized([](Schedule& s, Block b) { s.CacheRead(b, 0, "stack"); });
  ASSERT_TRUE(copied.ok()) << copied.status();
  ExpectSameResults(Matmul(), copied.program());
  const Schedule around = tensorized([](Schedule& s, Block b) {
    s.Split(s.GetLoops(s.GetBlock("matmul.tile"))[0], {2, 1});
    s.VectorizeInner(8);
    s.UnrollUpTo(64);
    (void)b;
  });
  ASSERT_TRUE(around.ok()) << around.status();
  ExpectSameResults(Matmul(), around.program());
}

TEST(Verify, RefusesACallThatDoesNotMatch) {
  Schedule s = Scheduled(Matmul());
  const Block tile = s.Blockize(Tile(s, {2, 2, 2})[3]);
  s.Tensorize(tile, "tiny.mma.i32x2");
  ASSERT_TRUE(s.ok()) << s.status();
  Program p = s.program();
  p.block(s.node(tile)).intrinsic = p.Intern("tiny.dot.i32x2");
  EXPECT_THAT(Verify(p).message(), HasSubstr("block \"matmul.tile\" does not match tiny.dot.i32x2: "));
  p.block(s.node(tile)).intrinsic = p.Intern("tiny.nothing");
  EXPECT_THAT(Verify(p).message(), HasSubstr("is a call of tiny.nothing, which is not declared"));
}

// Steps check only the calls of intrinsics that they touch. In a program with a call that does not match its intrinsic,
// steps of another nest and around the call apply, and a step inside the call is refused.
TEST(Tensorize, AStepMatchesNoCallThatItDoesNotTouch) {
  Builder b("two");
  const Id A = b.Input("A", kI32, {4, 4}), B = b.Input("B", kI32, {4, 4}), C = b.Output("C", kI32, {4, 4}),
           D = b.Output("D", kI32, {4, 4});
  const IndexSum i = b.Iter(0), j = b.Iter(1), r = b.Iter(2);
  b.Reduce("matmul", {{"i", 4}, {"j", 4}, {"k", 4, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
           b.Mul(b.Load(B, {r, j}), b.Load(A, {i, r})));
  b.Compute("copy", {{"i", 4}, {"j", 4}}, {D, {i, j}}, b.Load(A, {i, j}));
  Schedule s = Scheduled(b.Finish());
  const Block tile = s.Blockize(Tile(s, {2, 2, 2})[3]);
  s.Tensorize(tile, "tiny.mma.i32x2");
  ASSERT_TRUE(s.ok()) << s.status();
  Program wrong = s.program();
  wrong.block(s.node(tile)).intrinsic = wrong.Intern("tiny.dot.i32x2");
  ASSERT_FALSE(CheckCalls(wrong).ok());
  Schedule later = Scheduled(wrong);
  const auto of_copy = later.GetLoops(later.GetBlock("copy"));
  later.Split(of_copy[0], {2, 2});
  later.Unroll(of_copy[1]);
  later.Split(later.GetLoops(later.GetBlock("matmul.tile"))[0], {2, 1});  // around the call
  ASSERT_TRUE(later.ok()) << later.status();
  const auto inside = later.GetLoops(later.GetBlock("matmul"));
  later.Reorder({inside[2], inside[0]});
  EXPECT_THAT(Refusal(later), HasSubstr("block \"matmul.tile\" does not match tiny.dot.i32x2: "));
}

TEST(Intrinsics, EveryDescriptionIsACallOfItself) {
  for (const Intrinsic* const intrinsic : AllIntrinsics()) {
    const Program& d = DescriptionOf(*intrinsic);
    ASSERT_FALSE(LoopsOf(d).empty()) << intrinsic->name;
    Program p = d;
    BlockNode around;
    around.name = p.Intern("tile");
    around.intrinsic = p.Intern(intrinsic->name);
    const Id tile = p.AddBlock(around), first = LoopsOf(d)[0];
    p.Replace(first, tile);
    p.Append(tile, first);
    EXPECT_TRUE(Verify(p).ok()) << Verify(p);
  }
}

TEST(Intrinsics, TargetsListTheirs) {
  const auto names = [](const Target& target) {
    std::string all;
    for (const IntrinsicFamily* const family : target.matrix_intrinsics())
      absl::StrAppend(&all, family->name, " ");
    return all;
  };
  EXPECT_EQ(names(Target()), "fma.6x16 ");
  Target wide;
  wide.vector_bytes = 64;
  wide.vector_registers = 32;
  wide.features = "+avx512vnni,+avx512bf16,+avx10.2";
  EXPECT_EQ(names(wide), "bf16.16x2 f16.16x2 fma.14x32 vnni.16x4 vnni.s8.16x4 ");
  Target gpu;
  gpu.name = "cuda";
  EXPECT_EQ(names(gpu), "mma.m16n8k16 ");
}

}  // namespace
}  // namespace kiln
