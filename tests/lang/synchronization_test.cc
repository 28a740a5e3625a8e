// Tests where threads must wait for each other (lang/threads/synchronization.h), and the vector clocks that
// judge it (testing/threads/thread_clocks.h): no plan has a race, and each point and each wait of a plan is needed.
#include "lang/threads/synchronization.h"

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/placement.h"
#include "lang/text/text.h"
#include "testing/drawn_seed.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "testing/random_program.h"
#include "testing/softmax.h"
#include "testing/threads/thread_clocks.h"
#include "tests/support/random_steps.h"
#include "tests/support/sync_plan_of.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::string TextOf(const Program& p, const SyncPlan& plan) {
  constexpr const char* kOwners[] = {"thread", "warp", "warpgroup", "block", "cluster", "grid"};
  std::string text;
  for (const SyncPoint& point : plan.points) {
    absl::StrAppend(&text, kOwners[static_cast<int>(point.among)], " before ", Describe(p, point.before));
    if (point.within != kNone) absl::StrAppend(&text, " within ", Describe(p, point.within));
    if (point.wait_groups >= 0) absl::StrAppend(&text, " waits ", point.wait_groups);
    absl::StrAppend(&text, "\n");
  }
  return text;
}

// Expects that threads do not race under the synchronization plan of the program, and that they do if any point is left
// out of the plan, or if any wait for asynchronous copies ends while one group of copies more is under way.
void ExpectAllNeeded(const Program& p) {
  const SyncPlan plan = PlanOf(p);
  EXPECT_TRUE(CheckThreadClocks(p, plan).ok()) << CheckThreadClocks(p, plan);
  for (size_t i = 0; i < plan.points.size(); ++i) {
    SyncPlan less = plan;
    less.points.erase(less.points.begin() + static_cast<int64_t>(i));
    EXPECT_THAT(std::string(CheckThreadClocks(p, less).message()), HasSubstr(" race: they use element "))
        << "without point " << i << " of\n"
        << TextOf(p, plan);
    if (plan.points[i].wait_groups < 0) continue;
    SyncPlan early = plan;
    ++early.points[i].wait_groups;
    EXPECT_THAT(std::string(CheckThreadClocks(p, early).message()), HasSubstr(" race: they use element "))
        << i;
  }
}

TEST(Synchronization, AThreadThatUsesWhatItWroteWaitsForNobody) {
  const Program p = Shifted(64, 0, 8);
  EXPECT_EQ(TextOf(p, PlanOf(p)), "");
  ExpectAllNeeded(p);
}

TEST(Synchronization, ThreadsOfAWarpWaitForTheirWarp) {
  const Program p = Shifted(64, 1, 8);  // before reading T, and before the next iteration writes it again
  EXPECT_EQ(PlanOf(p).points.size(), 2u);
  for (const SyncPoint& point : PlanOf(p).points) EXPECT_EQ(point.among, Owner::kWarp);
  ExpectAllNeeded(p);
}

TEST(Synchronization, APipelineOfTwoCopiesHasOnePointAStep) {
  const Schedule s = SimtMatmul(Matmul(32, 24, 16));
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(PlanOf(s.program()).points.size(), 1u) << TextOf(s.program(), PlanOf(s.program()));
  ExpectAllNeeded(s.program());
}

// Tests that no thread waits if thread t of iteration s writes the element 8*s + t of a matrix with rows of 6 elements,
// although neither the row nor the column alone tells the thread.
TEST(Synchronization, ThreadsThatWriteElementsOfTheirOwnAcrossRowsDoNotWait) {
  constexpr char kCopy[] = R"(kiln.program v1
program copy
parameters A, C
buffer A: f32[4, 6] input
buffer C: f32[4, 6] output

for s < 3 {
  for t < 8 thread-x {
    block copy {
      let m = s*8 + t < 24
      spatial i < 4 = m/6
      spatial j < 6 = m%6
      C[i, j] = A[i, j]
    }
  }
}
)";
  const auto apart = ParseProgram(kCopy);
  ASSERT_TRUE(apart.ok()) << apart.status();
  EXPECT_EQ(TextOf(*apart, PlanOf(*apart)), "");
  EXPECT_EQ(CheckThreadClocks(*apart, PlanOf(*apart)), absl::OkStatus());
  // With 7*s + t, threads of two iterations write the same element, so the threads of a warp wait before each
  // iteration.
  const auto overlaps = ParseProgram(absl::StrReplaceAll(kCopy, {{"s*8", "s*7"}}));
  ASSERT_TRUE(overlaps.ok()) << overlaps.status();
  EXPECT_EQ(TextOf(*overlaps, PlanOf(*overlaps)), "warp before loop t\n");
}

TEST(Synchronization, RowsThatThreadsReduceAreReadAfterAPoint) {
  const Schedule s = SoftmaxOfRows(Softmax(3, 64));
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectAllNeeded(s.program());
}

TEST(Synchronization, RingsNeedOnePointAStepOrOneEachWay) {
  for (const auto& [depth, stage, order, points] :
       std::vector<std::tuple<int64_t, int64_t, std::vector<int64_t>, size_t>>{
           {1, 0, {0, 1}, 2}, {2, 0, {0, 1}, 1}, {2, 1, {0, 1}, 1}, {3, 2, {1, 0}, 1}, {4, 1, {0, 1}, 1}}) {
    const Program p = Copied(8, {.stages = {0, stage}, .order = order, .depths = {depth}});
    EXPECT_EQ(PlanOf(p).points.size(), points) << depth << " " << stage << "\n" << TextOf(p, PlanOf(p));
    ExpectAllNeeded(p);
  }
}

TEST(Synchronization, AsynchronousCopiesAreWaitedForByGroups) {
  for (const int64_t stage : {1, 2, 3}) {
    const Program p = Copied(8, {.stages = {0, stage}, .depths = {stage + 1}, .transport = "async"});
    const SyncPlan plan = PlanOf(p);
    ASSERT_EQ(plan.points.size(), 1u) << TextOf(p, plan);
    EXPECT_EQ(plan.points[0].wait_groups, stage - 1);  // the point is before the copies of its step
    ExpectAllNeeded(p);
  }
}

// Of two asynchronous copies in one pipeline stage, the second reads what the first copies. Both belong to one group,
// so that no thread could wait for the first alone: the plan makes the first a synchronous store.
//    for t < 2 thread-x: for k < 12: { S = A[t, k];  R = S;  C[t, k] = R }
TEST(Synchronization, ACopyThatIsReadBeforeItsGroupIsCommittedIsAStore) {
  Builder b("copied");
  const std::vector<Builder::IterSpec> iters = {{"t", 2}, {"k", 12}};
  const std::vector<IndexSum> index = {b.Iter(0), b.Iter(1)};
  const Id A = b.Input("A", DType::kF32, {2, 12}), S = b.Temporary("S", DType::kF32, {2, 12}),
           R = b.Temporary("R", DType::kF32, {2, 12}), C = b.Output("C", DType::kF32, {2, 12});
  b.Compute("first", iters, {S, index}, b.Load(A, index));
  b.Compute("second", iters, {R, index}, b.Load(S, index));
  b.Compute("use", iters, {C, index}, b.Load(R, index));
  Schedule s = Scheduled(b.Finish());
  const std::vector<Loop> loops = s.GetLoops(s.GetBlock("use"));
  s.Bind(loops[0], LoopKind::kThreadX);
  s.ComputeAt(s.GetBlock("second"), loops[1]);
  s.ComputeAt(s.GetBlock("first"), loops[1]);
  s.Pipeline(loops[1], {.stages = {0, 0, 0}, .transport = "async"});
  ASSERT_TRUE(s.ok()) << s.status();
  const SyncPlan plan = PlanOf(s.program());
  ASSERT_EQ(plan.rings.size(), 2u);
  EXPECT_EQ(plan.rings[0].transport, Transport::kSync);
  EXPECT_EQ(plan.rings[1].transport, Transport::kAsync);
  EXPECT_EQ(CheckThreadClocks(s.program(), plan), absl::OkStatus());
}

// Threads read elements that other threads copied asynchronously. Tests that the plan has a point before the loop that
// reads, at which the threads of the warp wait for their own copies, and then for each other.
TEST(Synchronization, AWaitForCopiesOfOtherThreadsIsAPointOfAllOfThem) {
  const auto program = ParseProgram(R"(kiln.program v1
program copied
parameters A, B, C, Y
buffer A: i16[3] input
buffer B: i16[3, 2] input
buffer C: i16[2] input
buffer Y: i16[2] output
buffer S: i16[3, 2] temporary shared/block
buffer T: i16[2] temporary warp/warp

for again < 2 pipelined (0 0, 1 1; S 2 async) {
  for c0 < 2 {
    for c1 < 3 thread-x {
      block copy {
        let m = c0*3 + c1 < 6
        spatial i < 3 = m/2
        spatial j < 2 = m%2
        S[i, j] = B[i, j]
        from copy B
      }
    }
  }
  for o < 1 {
    for i < 3 thread-x {
      for r < 3 {
        block use {
          spatial i < 2 = i
          reduction r < 3 = r
          T[i] max= A[r]*S[r, i]
          from partial 3 (i < 2, r < 3)
        }
      }
    }
    for i < 3 {
      block combine {
        spatial i < 2 = i
        Y[i] max= T[i] initial C[i]
        from compute 3
      }
    }
  }
}
)");
  ASSERT_TRUE(program.ok()) << program.status();
  const SyncPlan plan = PlanOf(*program);
  EXPECT_THAT(TextOf(*program, plan), HasSubstr("warp before loop o waits 1\n"));
  EXPECT_EQ(CheckThreadClocks(*program, plan), absl::OkStatus()) << TextOf(*program, plan);
}

// Expects a plan without races for a pipelined loop i in whose last step one child, the loop j, does not run. A point
// within j thus orders nothing in that step, which reads T.
//    for i < 4: { for j < 3: { F = A[i, j], of a warpgroup;  T[j] = max(B[i, j], F) };
//                 for j < 3 thread-x: C[i, j] = T[j], a stage later }
TEST(Synchronization, PointsOfAChildThatDoesNotRunAtTheEndOrderNothingThere) {
  Builder b("late");
  const Id A = b.Input("A", DType::kF32, {4, 3}), B = b.Input("B", DType::kF32, {4, 3}),
           T = b.Temporary("T", DType::kF32, {4, 3}), C = b.Output("C", DType::kF32, {4, 3});
  const std::vector<IndexSum> index = {b.Iter(0), b.Iter(1)};
  b.Reduce("most", {{"i", 4}, {"j", 3}, {"r", 1, IterKind::kReduction}}, Monoid::Kind::kMax, {T, index},
           b.Load(A, index), b.Load(B, index));
  b.Compute("use", {{"i", 4}, {"j", 3}}, {C, index}, b.Load(T, index));
  Schedule s = Scheduled(b.Finish());
  const auto loops = s.GetLoops(s.GetBlock("use"));
  const Block most = s.GetBlock("most");
  s.ComputeAt(most, loops[0]);
  s.Pipeline(loops[0], {.stages = {0, 1}, .depths = {2}});
  s.AccumulateAt(most, s.GetLoops(most)[2], "warpgroup");
  s.Bind(loops[1], LoopKind::kThreadX);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(CheckThreadClocks(s.program(), PlanOf(s.program())), absl::OkStatus())
      << TextOf(s.program(), PlanOf(s.program()));
}

TEST(Synchronization, ProducersHandCopiesOverByBarriersOfTheRing) {
  const Program p = Copied(8, {.stages = {0, 2}, .depths = {3}, .transport = "bulk", .producers = {0}});
  const SyncPlan plan = PlanOf(p);
  EXPECT_TRUE(plan.points.empty()) << TextOf(p, plan);
  ASSERT_EQ(plan.rings.size(), 1u);
  EXPECT_TRUE(plan.rings[0].counts_arrivals);
  EXPECT_TRUE(CheckThreadClocks(p, plan).ok()) << CheckThreadClocks(p, plan);
  SyncPlan without = plan;
  without.rings[0].counts_arrivals = false;
  EXPECT_FALSE(CheckThreadClocks(p, without).ok());
}

// Returns a kernel in which thread blocks write T = A and then read T: C[i] = T[7 - i], which another block wrote, if
// `turned`, otherwise C[i] = T[i]. With `pipeline`, both are stages of a pipelined loop.
Program AcrossBlocks(const std::optional<PipelineOptions>& pipeline, bool turned = true) {
  Builder b("two");
  const Id A = b.Input("A", DType::kF32, {8}), T = b.Temporary("T", DType::kF32, {8}),
           C = b.Output("C", DType::kF32, {8});
  const IndexSum i = b.Iter(0);
  b.Compute("make", {{"i", 8}}, {T, {i}}, b.Load(A, {i}));
  b.Compute("use", {{"i", 8}}, {C, {i}}, b.Load(T, {turned ? i * -1 + IndexSum::Constant(7) : i}));
  Schedule s = Scheduled(b.Finish());
  const Loop unit = s.AddUnitLoop(s.GetLoops(s.GetBlock("use"))[0]);
  s.ComputeAt(s.GetBlock("make"), unit);
  s.Bind(s.GetLoops(s.GetBlock("use")).back(), LoopKind::kBlockX);
  s.Bind(s.GetLoops(s.GetBlock("make")).back(), LoopKind::kBlockX);
  if (pipeline.has_value()) s.Pipeline(unit, *pipeline);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

TEST(Synchronization, BlocksCannotWaitForEachOther) {
  const std::optional<PipelineOptions> cases[] = {std::nullopt, PipelineOptions(),
                                                  PipelineOptions{.producers = {0}}};
  for (const auto& pipeline : cases) {
    EXPECT_THAT(
        std::string(PlanSynchronization(AcrossBlocks(pipeline)).status().message()),
        HasSubstr(
            "would have to wait for each other: block \"make\" and block \"use\" use the same elements of buffer T"));
    EXPECT_THAT(std::string(CheckThreadClocks(AcrossBlocks(pipeline), {}).message()), HasSubstr("race"));
  }
}

TEST(Synchronization, BlocksCannotWaitForEachOtherAfterTheirThreadsDid) {
  const absl::StatusOr<Program> p = ParseProgram(R"(kiln.program v1
program three
parameters A, B, C
buffer A: f32[8] input
buffer T: f32[8] temporary
buffer B: f32[8] output
buffer C: f32[2] output

for z < 1 {
  for i < 8 thread-x {
    block make {
      spatial i < 8 = i
      T[i] = A[i]
    }
  }
  for i < 8 thread-x {
    block turn {
      spatial i < 8 = i
      B[i] = T[-i + 7]
    }
  }
  for j < 2 block-x {
    block use {
      spatial j < 2 = j
      C[j] = T[j]
    }
  }
}
)");
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_THAT(std::string(PlanSynchronization(*p).status().message()),
              HasSubstr("would have to wait for each other: block \"make\" and block \"use\""));
}

TEST(Synchronization, EachBlockHasBarriersOfItsOwnForARing) {
  const Program p = AcrossBlocks(PipelineOptions{.transport = "bulk"}, false);
  EXPECT_EQ(CheckThreadClocks(p, PlanOf(p)), absl::OkStatus());
}

TEST(Synchronization, OneThreadCombinesWhatThreadsOfAFusedLoopReduced) {
  for (const int64_t terms : {1, 2}) {
    Builder b("rows");
    const Id A = b.Input("A", DType::kF32, {1, 2, terms}), C = b.Output("C", DType::kF32, {1, 2});
    const IndexSum i = b.Iter(0), j = b.Iter(1), k = b.Iter(2);
    b.Reduce("sum", {{"i", 1}, {"j", 2}, {"k", terms, IterKind::kReduction}}, Monoid::Kind::kSum, {C, {i, j}},
             b.Load(A, {i, j, k}));
    Schedule s = Scheduled(b.Finish());
    const Block sum = s.GetBlock("sum");
    const std::vector<Loop> loops = s.GetLoops(sum);
    const Loop fused = s.Fuse({loops[1], loops[2]});
    s.Bind(fused, LoopKind::kThreadX);
    s.DecomposeReduction(sum, fused);
    ASSERT_TRUE(s.ok()) << s.status();
    EXPECT_EQ(CheckThreadClocks(s.program(), PlanOf(s.program())), absl::OkStatus()) << ToString(s.program());
  }
}

// Checks the plan of a loop over thread-y with points for warps and points for warpgroups. The analysis must not forget
// that all threads of a warp waited when warpgroups wait within an iteration. Otherwise planning would not end.
TEST(Synchronization, AWaitWithinALoopHidesNoneOutsideOfIt) {
  const absl::StatusOr<Program> p = ParseProgram(R"(kiln.program v1
program rows
parameters in, out
buffer in: f64[9, 6, 2] input
buffer out: f64[6, 2] output
buffer all: f64[18, 6, 2] temporary
buffer warp: f64[18, 6, 2] temporary warp/warp
buffer group: f64[18, 6, 2] temporary warpgroup/warpgroup

for i < 9 {
  for j < 6 thread-y {
    for k < 2 virtual-thread {
      for r < 9 {
        block spread {
          spatial i < 9 = r
          spatial j < 6 = j
          spatial k < 2 = k
          all[i*2, j, k] = in[i, j, k]
          from compute 1
        }
      }
      block first {
        spatial i < 18 = i*2
        spatial j < 6 = j
        spatial k < 2 = k
        warp[i, j, k] = all[i, j, k]
        from copy all
      }
      block second {
        spatial i < 18 = i*2
        spatial j < 6 = j
        spatial k < 2 = k
        group[i, j, k] = warp[i, j, k]
        from copy all
      }
      block map {
        spatial i < 9 = i
        spatial j < 6 = j
        spatial k < 2 = k
        out[j, k] = group[i*2, j, k] + f64(1)
        from compute 2
      }
    }
  }
}
)");
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(TextOf(*p, PlanOf(*p)),
            "warp before block \"first\" within loop j\n"
            "warpgroup before loop r within loop j\n"
            "warpgroup before loop j\n");
  EXPECT_EQ(CheckThreadClocks(*p, PlanOf(*p)), absl::OkStatus());
}

// Plans a kernel whose threads reverse rows of 8 elements within a nest of 30 loops of 2 iterations. The time to plan
// must not double with each loop. The plan has two points.
TEST(Synchronization, DeepNestsArePlannedInNoTime) {
  constexpr int kDepth = 30;
  Builder b("deep");
  const IndexSum i = b.Iter(0), t = b.Iter(1);
  const int64_t rows = int64_t{1} << kDepth;
  const Id A = b.Input("A", DType::kF32, {rows, 8}), T = b.Temporary("T", DType::kF32, {rows, 8}),
           C = b.Output("C", DType::kF32, {rows, 8});
  b.Compute("make", {{"i", rows}, {"t", 8}}, {T, {i, t}}, b.Load(A, {i, t}));
  b.Compute("use", {{"i", rows}, {"t", 8}}, {C, {i, t}}, b.Load(T, {i, t * -1 + IndexSum::Constant(7)}));
  Schedule s = Scheduled(b.Finish());
  const Loop row = s.GetLoops(s.GetBlock("use"))[0];
  const std::vector<Loop> loops = s.Split(row, std::vector<Factor>(kDepth, Factor(2)));
  s.ComputeAt(s.GetBlock("make"), loops.back());
  s.Bind(s.GetLoops(s.GetBlock("use")).back(), LoopKind::kThreadX);
  s.Bind(s.GetLoops(s.GetBlock("make")).back(), LoopKind::kThreadX);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(PlanOf(s.program()).points.size(), 2u);  // within a row, and before the next one
}

// Returns a random program after up to 40 random steps, which prefer primitives that make GPU kernels.
Program RandomKernels(uint64_t seed) {
  RandomDice dice(Engine{seed});
  State state;
  state.program = RandomProgram(dice, {.types = true});
  std::vector<const Primitive*> favored;
  for (const char* name : {"bind", "bind", "set-scope", "compute-at", "cache-read", "cooperative-fetch",
                           "pipeline", "bind-rest"})
    favored.push_back(FindPrimitive(name));
  for (int i = 0; i < 40; ++i) {
    RefreshHandles(state);
    Run(state, Target(), RandomStep(state, {}, false, dice, favored), 0, nullptr, nullptr, nullptr)
        .IgnoreError();
  }
  return state.program;
}

TEST(Synchronization, RandomKernelsHaveNoRace) {
  int64_t kernels = 0, points = 0;
  const uint64_t first = DrawnSeed();
  for (uint64_t seed = first; seed < first + 400; ++seed) {
    const Program p = RandomKernels(seed);
    if (!HasAxes(p) || !CheckOwners(p).ok()) continue;
    const absl::StatusOr<SyncPlan> plan = PlanSynchronization(p);
    if (!plan.ok()) continue;
    const absl::Status clocks = CheckThreadClocks(p, *plan, 50'000);
    EXPECT_TRUE(clocks.ok() || absl::IsResourceExhausted(clocks)) << "seed " << seed << ": " << clocks << "\n"
                                                                  << TextOf(p, *plan) << ToString(p);
    ++kernels;
    points += static_cast<int64_t>(plan->points.size());
  }
  EXPECT_GT(kernels, 0);
  RecordProperty("kernels", static_cast<int>(kernels));
  RecordProperty("points", static_cast<int>(points));
}

// Expects a plan without races where a loop with one iteration is bound to thread-x within another loop of thread-x. It
// does not count as an axis: thread t writes and reads element t of S.
TEST(Synchronization, ALoopOfOneIterationTellsNoThreadsApart) {
  const auto p = ParseProgram(R"(kiln.program v1
program unit
parameters A, C
buffer A: f32[2] input
buffer C: f32[2] output
buffer S: f32[2] temporary shared/block

for b < 1 block-x {
  for t < 2 thread-x {
    for c < 1 { block put { spatial i < 2 = t  S[i] = A[i] } }
    for r < 1 thread-x { block get { spatial i < 2 = t  reduction r < 1 = r  C[i] max= S[i + r] } }
  }
}
)");
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(CheckThreadClocks(*p, PlanOf(*p)), absl::OkStatus());
}

}  // namespace
}  // namespace kiln
