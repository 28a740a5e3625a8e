// Tests analyses and primitives on schedules for GPUs, among them: threads of kernels, owners of buffers, regions of
// fused indices, pipelines and their transports, copies, and bounds of samples that are values.
#include "gmock/gmock.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/loop_nest_summary.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/lowerable.h"
#include "lang/reference/current_owner.h"
#include "lang/reference/symbolic.h"
#include "lang/text/text.h"
#include "testing/matmul.h"
#include "testing/softmax.h"
#include "tests/lang/restricted.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

void ExpectSame(const Program& before, const Program& after) {
  for (const PipelineOrder order : {PipelineOrder::kInTurn, PipelineOrder::kLate, PipelineOrder::kRandom}) {
    const absl::Status status =
        CheckSymbolic(after, *RunSymbolic(before), {.shuffle = 3, .pipelines = order});
    EXPECT_TRUE(status.ok()) << status;
  }
}

int64_t ElementsOf(const Program& p, absl::string_view name) {
  LoopNestSummary nests;
  nests.Read(p);
  for (size_t b = 0; b < p.buffers.size(); ++b)
    if (p.Text(p.buffers[b].name) == name) return nests.buffers()[b].elements;
  return -1;
}

absl::Status Lowerable(const Program& p) {
  LoopNestSummary nests;
  nests.Read(p);
  return VerifyLowerable(nests);
}

// Returns the program T = A;  C = T + T, of n elements.
Program Twice(int64_t n, DType dtype = DType::kF32) {
  Builder b("twice");
  const Id A = b.Input("A", dtype, {n}), T = b.Temporary("T", dtype, {n}), C = b.Output("C", dtype, {n});
  b.Compute("make", {{"i", n}}, {T, {b.Iter(0)}}, b.Load(A, {b.Iter(0)}));
  b.Compute("use", {{"i", n}}, {C, {b.Iter(0)}}, b.Add(b.Load(T, {b.Iter(0)}), b.Load(T, {b.Iter(0)})));
  return b.Finish();
}

// Returns a schedule of T = A;  C = T + T with 128 elements: 8 threads copy the elements to T, which is in `storage`,
// cyclically and 4 at a time, and then read them from T in the same order.
Schedule CyclicRow(const char* storage) {
  Schedule s = Scheduled(Twice(128));
  const Block make = s.GetBlock("make"), use = s.GetBlock("use");
  s.ComputeAt(make, s.AddUnitLoop(s.GetLoops(use)[0]));
  for (const Block block : {make, use}) {
    const auto parts = s.Split(s.GetLoops(block).back(), {kAuto, 8, 4});
    s.Bind(parts[1], LoopKind::kThreadX);
    s.Unroll(parts[0]);
    s.Vectorize(parts[2]);
  }
  s.SetScope(make, storage);
  return s;
}

TEST(Owners, AThreadIsADigitOfTheIndex) {  // T[j0*32 + t*4 + v]
  const Schedule s = CyclicRow("register");
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSame(Twice(128), s.program());
}

TEST(Lowerable, AnAxisWithRegistersOfItsOwnDoesNotIndexThem) {
  const Schedule s = CyclicRow("register");
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_TRUE(Lowerable(s.program()).ok()) << Lowerable(s.program());
  EXPECT_EQ(ElementsOf(s.program(), "T"), 100);  // j0*32 + v
}

TEST(LoopNestSummary, LoopsOfOneAxisAreOneForWhatTheyOwn) {  // T[t*16 + v]
  Schedule s = Scheduled(Twice(128));
  const Block make = s.GetBlock("make"), use = s.GetBlock("use");
  s.ComputeAt(make, s.AddUnitLoop(s.GetLoops(use)[0]));
  for (const Block block : {make, use}) {
    const auto parts = s.Split(s.GetLoops(block).back(), {8, 16});
    s.Bind(parts[0], LoopKind::kThreadX);
    s.Unroll(parts[1]);
  }
  s.SetScope(make, "register");
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(ElementsOf(s.program(), "T"), 16);
}

TEST(Owners, EveryNestOfAProgramWithAxesIsAKernel) {
  Builder b("three");
  const Id A = b.Input("A", DType::kF32, {8}), T = b.Temporary("T", DType::kF32, {8}),
           B = b.Output("B", DType::kF32, {8}), C = b.Output("C", DType::kF32, {8});
  const std::vector<IndexSum> i = {b.Iter(0)};
  b.Compute("make", {{"i", 8}}, {T, i}, b.Load(A, i));
  b.Compute("use", {{"i", 8}}, {B, i}, b.Load(T, i));
  b.Compute("other", {{"i", 8}}, {C, i}, b.Load(A, i));
  Schedule s = Scheduled(b.Finish());
  s.Bind(s.GetLoops(s.GetBlock("other"))[0], LoopKind::kThreadX);
  s.SetScope(s.GetBlock("make"), "shared");
  EXPECT_THAT(std::string(s.status().message()), HasSubstr("does not outlive a kernel"));
}

TEST(Threads, AKernelWithFragmentsConsistsOfWarps) {
  Schedule s = Scheduled(Twice(256));
  const Block make = s.GetBlock("make"), use = s.GetBlock("use");
  s.ComputeAt(make, s.AddUnitLoop(s.GetLoops(use)[0]));
  for (const Block block : {make, use})
    s.Bind(s.Split(s.GetLoops(block).back(), {2, kAuto})[0], LoopKind::kThreadY);
  s.SetScope(make, "warpgroup");
  ASSERT_TRUE(s.ok()) << s.status();
  const Program& p = s.program();
  const Id y = s.node(s.GetLoops(use)[1]), T = p.Accesses(p.block(s.node(make)).dests)[0].buffer;
  const Threads threads = ThreadsOf(p, NestOf(p, y));
  EXPECT_EQ(threads.x, 128);
  EXPECT_EQ(threads.y, 2);
  EXPECT_EQ(threads.collective, Owner::kWarpgroup);
  CurrentOwner owner(p);
  ASSERT_TRUE(owner.watches());
  owner.Iterate(y, 0);
  const uint64_t first = owner.Now(T);
  owner.Iterate(y, 1);
  EXPECT_NE(owner.Now(T), first);  // of another warpgroup
  ExpectSame(Twice(256), p);
}

// Returns a schedule of a matmul with a pipelined loop over tiles of k: { `threads` threads copy a tile of B, `tile` by
// 10 elements, to shared memory;  then each multiplies by it }.
Schedule Fetched(int64_t tile, int64_t threads, const PipelineOptions& options) {
  Schedule s = Scheduled(Matmul(threads, 10, 12));
  const Block matmul = s.GetBlock("matmul");
  const auto loops = s.GetLoops(matmul);
  const auto k = s.Split(loops[2], {kAuto, tile});
  s.Reorder({k[0], loops[0], loops[1], k[1]});
  s.Bind(loops[0], LoopKind::kThreadX);
  const Block copy = s.CacheRead(matmul, 1, "shared");
  s.ComputeAt(copy, k[0]);
  const auto own = s.GetLoops(copy);
  const Loop fused = s.Fuse({own[own.size() - 2], own.back()});
  const auto parts = s.Split(fused, {kAuto, threads});
  s.Bind(parts[1], LoopKind::kThreadX);
  s.Pipeline(k[0], options);
  return s;
}

TEST(Pipeline, TakesCopiesWhoseIndicesAreDigitsOfAMark) {
  for (const auto& [tile, threads] :
       {std::pair{3, 6}, {6, 4}, {3, 7}, {6, 7}}) {  // 7 does not divide 30 and 60
    const Schedule s = Fetched(tile, threads, {});
    ASSERT_TRUE(s.ok()) << tile << " " << threads << ": " << s.status();
    ExpectSame(Matmul(threads, 10, 12), s.program());
    EXPECT_EQ(ElementsOf(s.program(), "B.cache"), tile * 10);
  }
}

TEST(Pipeline, TakesCopiesWhoseThreadsOvershoot) {
  for (const auto& [tile, threads] : {std::pair{3, 20}, {1, 4}, {6, 40}}) {  // of 30, 10 and 60 elements
    const Schedule s = Fetched(tile, threads, {});
    ASSERT_TRUE(s.ok()) << tile << " " << threads << ": " << s.status();
    ExpectSame(Matmul(threads, 10, 12), s.program());
  }
}

// Pipelines the loop i where the index of a copy is a sum of iters, and keeps the results. The loops j and k are fused
// and split by 5.
//    for i < 8: { for j < 3: for k < 4: T[i, 4 j + k] = A[i, j, k];  for j < 12: C[i, j] = T[i, j] }
TEST(Pipeline, TakesCopiesToSumsOfTheirIters) {
  Builder b("merged");
  const Id A = b.Input("A", DType::kF32, {8, 3, 4}), T = b.Temporary("T", DType::kF32, {8, 12}),
           C = b.Output("C", DType::kF32, {8, 12});
  b.Compute("merge", {{"i", 8}, {"j", 3}, {"k", 4}}, {T, {b.Iter(0), b.Iter(1) * 4 + b.Iter(2)}},
            b.Load(A, {b.Iter(0), b.Iter(1), b.Iter(2)}));
  b.Compute("copy", {{"i", 8}, {"j", 12}}, {C, {b.Iter(0), b.Iter(1)}}, b.Load(T, {b.Iter(0), b.Iter(1)}));
  const Program program = b.Finish();
  Schedule s = Scheduled(program);
  const Loop i = s.GetLoops(s.GetBlock("copy"))[0];
  s.ComputeAt(s.GetBlock("merge"), i);
  const auto own = s.GetLoops(s.GetBlock("merge"));
  s.Split(s.Fuse({own[own.size() - 2], own.back()}), {kAuto, 5});
  s.Pipeline(i, {});
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectSame(program, s.program());
}

TEST(Pipeline, IsRefusedWhereAMarkDoesNotTakeEveryValue) {
  Program p = Fetched(6, 7, {}).program();
  for (LoopNode& loop : p.loops) {
    if (loop.extent == 9 && loop.kind == LoopKind::kSerial) loop.extent = 8;  // 56 of 60 elements
  }
  for (const Id loop : LoopsBelow(p, kRoot)) {
    if (p.loop(loop).kind == LoopKind::kPipelined)
      EXPECT_THAT(std::string(CheckPipeline(p, loop).message()), HasSubstr("may have gaps"));
  }
}

// Returns a schedule of C[i] = Σ_{k < 5} P[i + k] with P[j] = A[j - 2] for 0 <= j - 2 < limit, else 0. Each iteration
// of a pipelined loop computes the elements of P for four elements of C, and then these.
Schedule Padded(int64_t limit, const char* transport) {
  Builder b("padded");
  const Id A = b.Input("A", DType::kF32, {16}), P = b.Temporary("P", DType::kF32, {20}),
           C = b.Output("C", DType::kF32, {16});
  const IndexSum j = b.Iter(0);
  IndexSum from = j;
  from.offset = -2;
  b.Compute("pad", {{"j", 20}}, {P, {j}},
            b.Within({{from, limit}}, b.Load(A, {from}), b.Float(DType::kF32, 0)));
  b.Reduce("sum", {{"i", 16}, {"k", 5, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {b.Iter(0)}},
           b.Load(P, {b.Iter(0) + b.Iter(1)}));
  Schedule s = Scheduled(b.Finish());
  const Loop block = s.Split(s.GetLoops(s.GetBlock("sum"))[0], {kAuto, 4})[0];
  s.ComputeAt(s.GetBlock("pad"), block);
  s.Pipeline(block, {.transport = transport});
  return s;
}

TEST(Pipeline, ZerosBeyondTheBufferTravelToo) {
  for (const char* transport : {"async", "bulk"}) {
    EXPECT_TRUE(Padded(16, transport).ok()) << Padded(16, transport).status();
  }
  EXPECT_TRUE(Padded(12, "async").ok());
  EXPECT_THAT(std::string(Padded(12, "bulk").status().message()),
              HasSubstr("fills with zeros within the buffer"));
}

TEST(Pipeline, AProducerReadsNothingThatItsKernelWrites) {
  Builder b("chain");
  const Id A = b.Input("A", DType::kF32, {8}), S = b.Temporary("S", DType::kF32, {8}),
           T = b.Temporary("T", DType::kF32, {8}), C = b.Output("C", DType::kF32, {8});
  const std::vector<IndexSum> i = {b.Iter(0)};
  b.Compute("first", {{"i", 8}}, {S, i}, b.Load(A, i));
  b.Compute("load", {{"i", 8}}, {T, i}, b.Load(S, i));
  b.Compute("use", {{"i", 8}}, {C, i}, b.Load(T, i));
  Schedule s = Scheduled(b.Finish());
  const Loop unit = s.AddUnitLoop(s.GetLoops(s.GetBlock("use"))[0]);
  s.ComputeAt(s.GetBlock("load"), s.GetLoops(s.GetBlock("use"))[1]);
  s.ComputeAt(s.GetBlock("first"), unit);
  s.Pipeline(s.GetLoops(s.GetBlock("use"))[1], {.producers = {0}});
  EXPECT_THAT(std::string(s.status().message()),
              HasSubstr("is a producer, but reads S, which the same nest writes"));
}

TEST(Pipeline, DepthsMayBeValuesAndOneForAll) {
  Schedule s = Scheduled(Fed());
  const auto loops = s.GetLoops(s.GetBlock("sum"));
  s.Reorder({loops[1], loops[0]});
  s.ComputeAt(s.GetBlock("load"), loops[1]);
  s.Pipeline(loops[1], {.depths = {s.Add({1, 2})}});
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("pipelined (0 0, 2 1; S 3 sync)"));
  ExpectSame(Fed(), s.program());
}

TEST(ReverseComputeInline, CropsWhatAPaddedProductMakes) {
  Builder b("crop");
  const Id A = b.Input("A", DType::kF32, {8, 8}), P = b.Temporary("P", DType::kF32, {8, 8}),
           C = b.Output("C", DType::kF32, {5, 8});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  IndexSum from = i;
  from.offset = 2;
  b.Compute("whole", {{"i", 8}, {"j", 8}}, {P, {i, j}}, b.Add(b.Load(A, {i, j}), b.Load(A, {i, j})));
  b.Compute("crop", {{"i", 5}, {"j", 8}}, {C, {i, j}}, b.Cast(DType::kF32, b.Load(P, {from, j})));
  const Program before = b.Finish();
  Schedule s = Scheduled(before);
  s.Split(s.GetLoops(s.GetBlock("whole"))[0], {kAuto, 3});
  s.ReverseComputeInline(s.GetBlock("crop"));
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_TRUE(Verify(s.program()).ok()) << Verify(s.program());
  EXPECT_THAT(ToString(s.program()), HasSubstr("C["));
  ExpectSame(before, s.program());
}

TEST(CooperativeFetch, SpreadsOverAsManyThreadsAsDivideTheWork) {  // 6 by 10 elements for 8 and for 7 threads
  for (const auto& [threads, wanted] :
       {std::pair{8, "< 6 thread-x"}, {7, "< 6 thread-x"}, {4, "< 4 thread-x"}}) {
    Schedule s = Scheduled(Matmul(threads, 10, 12));
    const Block matmul = s.GetBlock("matmul");
    const auto loops = s.GetLoops(matmul);
    const auto k = s.Split(loops[2], {kAuto, 6});
    s.Reorder({k[0], loops[0], loops[1], k[1]});
    s.Bind(loops[0], LoopKind::kThreadX);
    const Block copy = s.CacheRead(matmul, 1, "shared");
    s.ComputeAt(copy, k[0]);
    s.CooperativeFetch(copy, 1);
    ASSERT_TRUE(s.ok()) << s.status();
    EXPECT_THAT(ToString(s.program()), HasSubstr(wanted));
    ExpectSame(Matmul(threads, 10, 12), s.program());
  }
}

TEST(CacheRead, LetsAllLaterReadersUseTheCopy) {  // softmax reads X twice
  Schedule s = Scheduled(Softmax(3, 8));
  const Block copy = s.CacheReadForAll(s.GetBlock("max"), 0, "register");
  ASSERT_TRUE(s.ok()) << s.status();
  const Program& p = s.program();
  const Id X = ReadBuffers(p, s.node(copy))[0];
  EXPECT_EQ(Readers(p, X).size(), 1u);
  ExpectSame(Softmax(3, 8), p);
}

TEST(BindRest, BindsBlocksToAnAxisThatIsFree) {
  Schedule s = Scheduled(Fed());
  s.Bind(s.GetLoops(s.GetBlock("load"))[0], LoopKind::kBlockZ);
  s.BindRest(24, 2);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()),
              HasSubstr("for k < 6 block-z {\n  for i_0 < 4 block-x {\n    for i_1 < 2 thread-x {"));
  ExpectSame(Fed(), s.program());
}

TEST(Arithmetic, DividesSubtractsAndTakesTheLeast) {
  Schedule s = Scheduled(Twice(96));
  const Loop loop = s.GetLoops(s.GetBlock("use"))[0];
  const Value least = s.Minimum({s.Divide(50, 4), s.Subtract(30, 12), 40});  // 12, 18, 40
  s.Split(loop, {kAuto, least});
  s.Split(s.GetLoops(s.GetBlock("make"))[0], {kAuto, s.Add({s.Subtract(3, 5), 8})});
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_THAT(ToString(s.program()), HasSubstr("for i_1 < 12 tainted {"));
  s.Divide(1, 0);
  EXPECT_FALSE(s.ok());
}

TEST(Samples, HaveBoundsThatAreValues) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RandomDice dice(Engine{seed});
    RandomChooser chooser(dice);
    Schedule s(Twice(720), Target(), chooser);
    const Loop loop = s.GetLoops(s.GetBlock("use"))[0];
    const Value room = s.Divide(100, 4);
    const Value tile = s.SamplePerfectTile(loop, {.parts = 3,
                                                  .innermost = 0,
                                                  .most = {0, room},
                                                  .multiple = {2},
                                                  .each = {0, s.Subtract(room, 19), 0}});
    const Value width = s.SampleCategoricalUpTo(s.Part(tile, -1), {1, 2, 4, 8, 16});
    ASSERT_TRUE(s.ok()) << s.status();
    const auto numbers = s.steps()[s.steps().size() - 3].decision;
    EXPECT_LE(numbers[1] * numbers[2], 25);
    EXPECT_LE(numbers[1], 6);
    EXPECT_EQ(numbers[2] % 2, 0);
    EXPECT_LE(s.steps().back().decision[0], numbers[2]);
    (void)width;
  }
}

}  // namespace
}  // namespace kiln
