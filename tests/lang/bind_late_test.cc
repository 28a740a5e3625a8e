// Tests the late primitives cooperative-fetch, which distributes a copy over the threads of its nest, and bind-rest,
// which binds outer loops of nests to axes of thread blocks and threads, on scheduled programs.
#include "gmock/gmock.h"
#include "lang/reference/symbolic.h"
#include "lang/text/text.h"
#include "testing/matmul.h"
#include "tests/lang/restricted.h"
#include "tests/support/golden.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// A schedule of a matmul of 4 x 8 x 12 for a GPU. Thread blocks run a loop over tiles of k, in which they copy a tile
// of B, of 4 by `threads` elements, to shared memory, and then multiply by it. Rows are on thread-y, `threads` columns
// on thread-x.
struct Tiled {
  explicit Tiled(int64_t threads = 4) {
    const auto loops = s.GetLoops(matmul);
    const auto i = s.Split(loops[0], {2, kAuto}), j = s.Split(loops[1], {2, threads}),
               k = s.Split(loops[2], {3, 4});
    s.Reorder({i[0], j[0], k[0], i[1], j[1], k[1]});
    s.Bind(i[0], LoopKind::kBlockY);
    s.Bind(j[0], LoopKind::kBlockX);
    s.Bind(i[1], LoopKind::kThreadY);
    s.Bind(j[1], LoopKind::kThreadX);
    copy = s.CacheRead(matmul, 1, "shared");
    s.ComputeAt(copy, k[0]);
  }
  Program before = Matmul(4, 8, 12);
  Schedule s = Scheduled(before);
  Block matmul = s.GetBlock("matmul"), copy;
};

void ExpectSame(const Program& before, const Program& after) {
  for (const uint64_t shuffle : {0, 1, 2})
    EXPECT_TRUE(CheckSymbolic(after, *RunSymbolic(before), {.shuffle = shuffle}).ok());
}

TEST(CooperativeFetch, SpreadsACopyOverTheThreadsOfItsNest) {
  Tiled t;
  t.s.CooperativeFetch(t.copy, 2);
  ASSERT_TRUE(t.s.ok()) << t.s.status();
  const std::string text = ToString(t.s.program());
  for (const char* loop : {"c0_c1_1 < 2 thread-y", "c0_c1_2 < 4 thread-x", "c0_c1_3 < 2 vectorized"})
    EXPECT_THAT(text, HasSubstr(loop));
  EXPECT_THAT(text, HasSubstr("spatial c0 < 12 = k_0*4 + c0_c1_1*2 + c0_c1_2/2"));
  ExpectSame(t.before, t.s.program());
}

TEST(CooperativeFetch, CopiesSingleElementsWhereVectorsDoNotDivide) {
  Tiled t(3);  // two tiles of 3 do not cover the 8 columns, so the split may be refused
  t.s.CooperativeFetch(t.copy, 5);
  if (t.s.ok()) {
    EXPECT_EQ(ToString(t.s.program()).find("vectorized"), std::string::npos);
    ExpectSame(t.before, t.s.program());
  }
}

TEST(CooperativeFetch, FollowsTheThreadsThatThereAreAtReplay) {
  for (const int64_t threads : {2, 4}) {
    Schedule s = Scheduled(Fed());
    const Block load = s.GetBlock("load"), sum = s.GetBlock("sum");
    const auto loops = s.GetLoops(sum);
    const auto i = s.Split(loops[0], {kAuto, threads});
    s.Reorder({i[0], loops[1], i[1]});
    s.ComputeAt(load, loops[1]);
    s.Bind(i[1], LoopKind::kThreadX);
    s.CooperativeFetch(load, 1);
    ASSERT_TRUE(s.ok()) << s.status();
    EXPECT_THAT(ToString(s.program()), HasSubstr(absl::StrCat("_1 < ", threads, " thread-x {")));
    ExpectSame(Fed(), s.program());
  }
}

TEST(CooperativeFetch, MayComeBeforeBuffersHaveTheirOwners) {
  Schedule s = Scheduled(Fed());
  const Block load = s.GetBlock("load"), sum = s.GetBlock("sum");
  const auto loops = s.GetLoops(sum);
  s.Reorder({loops[1], loops[0]});
  s.ComputeAt(load, loops[1]);
  s.SetScope(load, "register");
  s.Bind(loops[0], LoopKind::kThreadX);
  s.CooperativeFetch(load, 2);  // a thread then loads elements that other threads use
  EXPECT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("_2 < 2 vectorized"));
}

TEST(CooperativeFetch, IsRefusedWhereAThreadWouldHaveWhatAllUse) {
  // Refuses to distribute T over the threads of the nest: it is in registers, and `use` reads all elements of T in each
  // thread.
  //    for i < 4: { T[i, ..] = A[i, ..];  thread-x: B[i, ..] = A[i, ..] + A[i, ..];  C[i, ..] = T[i, ..] + T[i, ..] }
  Builder b("own");
  const Id A = b.Input("A", DType::kF32, {4, 8}), T = b.Temporary("T", DType::kF32, {4, 8}),
           B = b.Output("B", DType::kF32, {4, 8}), C = b.Output("C", DType::kF32, {4, 8});
  const std::vector<IndexSum> at = {b.Iter(0), b.Iter(1)};
  const std::vector<Builder::IterSpec> all = {{"i", 4}, {"j", 8}};
  b.Compute("load", all, {T, at}, b.Load(A, at));
  b.Compute("other", all, {B, at}, b.Add(b.Load(A, at), b.Load(A, at)));
  b.Compute("use", all, {C, at}, b.Add(b.Load(T, at), b.Load(T, at)));
  Schedule s = Scheduled(b.Finish());
  const auto outer = [&](const char* block) { return s.GetLoops(s.GetBlock(block))[0]; };
  s.Merge(outer("load"), s.Merge(outer("other"), outer("use")));
  s.SetScope(s.GetBlock("load"), "register");
  s.Bind(s.GetLoops(s.GetBlock("other"))[1], LoopKind::kThreadX);
  ASSERT_TRUE(s.ok()) << s.status();
  s.CooperativeFetch(s.GetBlock("load"), 1);
  EXPECT_THAT(std::string(s.status().message()), HasSubstr("buffer T is in register memory: each thread"));
}

TEST(CooperativeFetch, IsRefusedWithTheReason) {
  Refusals refusals;
  refusals.Add("a reduction", Fed(), [](Schedule& s) { s.CooperativeFetch(s.GetBlock("sum"), 1); });
  refusals.Add("threads around it", Fed(), [](Schedule& s) {
    s.Bind(s.GetLoops(s.GetBlock("load"))[0], LoopKind::kThreadX);
    s.CooperativeFetch(s.GetBlock("load"), 1);
  });
  refusals.Add("no loop of its own", Fed(), [](Schedule& s) {
    const auto loops = s.GetLoops(s.GetBlock("load"));
    s.Parallel(loops[0]);
    s.Unroll(loops[1]);
    s.CooperativeFetch(s.GetBlock("load"), 1);
  });
  refusals.Add("no vector", Fed(), [](Schedule& s) { s.CooperativeFetch(s.GetBlock("load"), 0); });
  refusals.Add("no limit", Fed(), [](Schedule& s) { s.BindRest(0, 4); });
  ExpectGolden("lang/bind_late_refusals.txt", refusals.text());
}

TEST(BindRest, BindsOuterLoopsOfEveryNest) {
  Schedule s = Scheduled(Fed());
  s.BindRest(4, 8);
  ASSERT_TRUE(s.ok()) << s.status();
  const std::string text = ToString(s.program());
  EXPECT_THAT(
      text,
      HasSubstr(
          "for k_i_0_0 < 4 block-x {\n  for k_i_0_1 < 2 {\n    for k_i_1 < 8 thread-x {\n      block load"));
  EXPECT_THAT(text,
              HasSubstr("for i_0 < 1 block-x {\n  for i_1 < 8 thread-x {\n    for k < 6 {\n      block sum"));
  ExpectSame(Fed(), s.program());
}

TEST(BindRest, LeavesBlocksThatThereAreAndAddsThreads) {
  for (const LoopKind axis : {LoopKind::kBlockX, LoopKind::kBlockY}) {
    Schedule s = Scheduled(Fed());
    s.Bind(s.GetLoops(s.GetBlock("load"))[0], axis);
    s.BindRest(4, 2);
    ASSERT_TRUE(s.ok()) << s.status();
    EXPECT_THAT(ToString(s.program()),
                HasSubstr(absl::StrCat("for k < 6 ", ToString(axis),
                                       " {\n  for i_0 < 4 {\n    for i_1 < 2 thread-x {")));
    ExpectSame(Fed(), s.program());
  }
}

TEST(BindRest, LeavesThreadsThatThereAre) {
  Tiled t;
  t.s.BindRest(256, 32);
  ASSERT_TRUE(t.s.ok()) << t.s.status();
  EXPECT_EQ(ToString(t.s.program()), ToString(Tiled().s.program()));
}

// BindRest binds no loop of a nest whose outer loop `again` only repeats the stores to T, and binds the loop of another
// nest. With `again` on an axis, each block would store all of T, which is a race, since blocks do not wait for each
// other.
TEST(BindRest, LeavesALoopThatOnlyRepeats) {
  const absl::StatusOr<Program> program = ParseProgram(R"(kiln.program v1
program repeated
parameters X, Y
buffer X: f32[64] input
buffer T: f32[64] temporary
buffer Y: f32[64] output

for again < 2 {
  for i < 64 {
    block store {
      spatial i < 64 = i
      T[i] = X[i]
    }
  }
}
for i < 64 {
  block copy {
    spatial i < 64 = i
    Y[i] = X[i]
  }
}
)");
  ASSERT_TRUE(program.ok()) << program.status();
  Schedule s = Scheduled(*program);
  s.BindRest(4, 8);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("for again < 2 {\n  for i < 64 {\n    block store"));
  EXPECT_THAT(ToString(s.program()), HasSubstr("for i_1 < 8 thread-x {\n      block copy"));
  ExpectSame(*program, s.program());
}

TEST(BindRest, LeavesNestsWhoseBuffersCouldNotBeReached) {
  Schedule s = Scheduled(Fed());
  s.SetScope(s.GetBlock("load"), "shared");
  const std::string before = ToString(s.program());
  s.BindRest(4, 8);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(ToString(s.program()), before);
}

}  // namespace
}  // namespace kiln
