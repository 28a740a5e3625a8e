// Tests the proof of synchronization plans (validator/proof/synchronization.h): plans of schedules are proven, and
// plans with a fault under which threads race never are.
#include "validator/proof/synchronization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "lang/analysis/legality.h"
#include "lang/program/builder.h"
#include "lang/threads/synchronization.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "testing/softmax.h"
#include "testing/stages.h"
#include "testing/threads/thread_clocks.h"
#include "tests/lang/restricted.h"
#include "tests/support/sync_plan_of.h"
#include "validator/proof/decide.h"
#include "validator/proof/proof.h"

namespace kiln {
namespace {

using proof::Answer;

proof::Finding FindingOf(const Program& program, const SyncPlan& plan) {
  proof::Decider decider(nullptr, 20'000, absl::Now() + absl::Seconds(5));
  return proof::CheckSynchronization(decider, proof::Spaces(program), plan);
}

// Returns copies of a synchronization plan with one fault each: a point is left out, stands one child later, or holds
// among a warp only; a wait lets one group of copies more be under way, or is left out; a ring is one shorter.
std::vector<SyncPlan> Faults(const Program& p, const SyncPlan& plan) {
  std::vector<SyncPlan> faults;
  for (size_t i = 0; i < plan.points.size(); ++i) {
    SyncPlan fault = plan;
    fault.points.erase(fault.points.begin() + static_cast<int64_t>(i));
    faults.push_back(fault);
    fault = plan;
    if (const Id next = p.nodes[plan.points[i].before].next; next != kNone) {
      fault.points[i].before = next;
      faults.push_back(fault);
    }
    fault = plan;
    if (plan.points[i].among > Owner::kWarp) {
      fault.points[i].among = Owner::kWarp;
      faults.push_back(fault);
    }
    fault = plan;
    if (plan.points[i].wait_groups < 0) continue;
    ++fault.points[i].wait_groups;
    faults.push_back(fault);
    fault.points[i].wait_groups = -1;
    faults.push_back(fault);
  }
  for (size_t i = 0; i < plan.rings.size(); ++i) {
    if (plan.rings[i].depth < 2 || plan.rings[i].counts_arrivals) continue;
    SyncPlan fault = plan;
    --fault.rings[i].depth;
    faults.push_back(fault);
  }
  return faults;
}

// Expects that the synchronization plan of the program is proven, and that no faulty copy of it is proven under which
// threads race.
void ExpectProven(const Program& p) {
  const SyncPlan plan = PlanOf(p);
  const proof::Finding finding = FindingOf(p, plan);
  EXPECT_EQ(finding.answer, Answer::kYes) << finding.why;
  ASSERT_TRUE(CheckThreadClocks(p, plan).ok());
  for (const SyncPlan& fault : Faults(p, plan)) {
    const absl::Status clocks = CheckThreadClocks(p, fault);
    if (absl::IsFailedPrecondition(clocks)) EXPECT_NE(FindingOf(p, fault).answer, Answer::kYes) << clocks;
  }
}

TEST(SynchronizationProof, ProvesAPipelinedProduct) {
  const Schedule s = SimtMatmul(Matmul(32, 24, 16));
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectProven(s.program());
  EXPECT_EQ(Prove(Matmul(32, 24, 16), s.program()).verdict, Proof::Verdict::kProven);
}

TEST(SynchronizationProof, ProvesReductionsOverThreads) {
  const Schedule s = SoftmaxOfRows(Softmax(3, 64));
  ASSERT_TRUE(s.ok()) << s.status();
  ExpectProven(s.program());
}

TEST(SynchronizationProof, TellsThreadsAndWarpsApart) {
  EXPECT_TRUE(PlanOf(Shifted(256, 0, 32)).points.empty());  // each thread uses what it wrote
  ExpectProven(Shifted(256, 0, 32));
  ExpectProven(Shifted(256, 1, 8));   // a warp waits
  ExpectProven(Shifted(256, 1, 64));  // a block waits
}

TEST(SynchronizationProof, ProvesRingsByTheirResidues) {
  for (const auto& [depth, stage, order] : std::vector<std::tuple<int64_t, int64_t, std::vector<int64_t>>>{
           {1, 0, {0, 1}}, {2, 0, {0, 1}}, {2, 1, {0, 1}}, {3, 2, {1, 0}}, {4, 1, {0, 1}}})
    ExpectProven(Copied(64, {.stages = {0, stage}, .order = order, .depths = {depth}}));
}

TEST(SynchronizationProof, ProvesWaitsOfAsynchronousCopies) {
  for (const int64_t stage : {1, 2, 3})
    ExpectProven(Copied(64, {.stages = {0, stage}, .depths = {stage + 1}, .transport = "async"}));
}

// Returns a matrix product for a GPU: a block of 32 threads copies slices of 16 by `slice` elements of A to shared
// memory, where all threads read them. With `pipelined`, the next slice is copied asynchronously meanwhile.
Program SlicesOfAProduct(const Program& product, int64_t slice, bool pipelined = false) {
  Schedule s = Scheduled(product);
  const Block matmul = s.GetBlock("matmul");
  const auto loops = s.GetLoops(matmul);
  const auto i = s.Split(loops[0], {kAuto, 16}), k = s.Split(loops[2], {kAuto, slice});
  s.Reorder({i[0], k[0], i[1], loops[1], k[1]});
  const Block copy = s.CacheRead(matmul, 0, "shared"), store = s.AccumulateAt(matmul, i[0], "register");
  s.ComputeAt(copy, k[0]);
  s.Bind(i[0], LoopKind::kBlockX);
  for (const Block block : {matmul, store}) {
    const auto of_block = s.GetLoops(block);
    const size_t rows = block.number == matmul.number ? 2 : 1;
    s.Bind(s.Fuse({of_block[rows], of_block[rows + 1]}), LoopKind::kThreadX);
  }
  s.CooperativeFetch(copy, 1);
  if (pipelined) s.Pipeline(k[0], {.stages = {0, 1}, .depths = {2}, .transport = "async"});
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

// Proves products in which 32 threads copy slices of 16 by 6 (or 5) elements in rounds. In a slice of 6 columns, a
// thread copies the element (t/6, t%6) with t = round*32 + thread, and no sum of terms of `round` and of `thread` gives
// t/6.
TEST(SynchronizationProof, FollowsThreadsThatCrossRows) {
  for (const int64_t slice : {6, 5}) {  // 3 rounds; and 80 elements
    const Program product = Matmul(32, 2, 2 * slice), p = SlicesOfAProduct(product, slice);
    ExpectProven(p);
    EXPECT_EQ(Prove(product, p, {.most_points = 0, .most_instances = 0}).reason, "");
  }
}

// Proves the plans of products in which 32 threads copy slices asynchronously, in rounds. The rounds of one slice need
// no wait between them: they write different elements, or the same value to one element again.
TEST(SynchronizationProof, ProvesAsynchronousCopiesInRounds) {
  for (const int64_t slice : {6, 5}) ExpectProven(SlicesOfAProduct(Matmul(32, 2, 4 * slice), slice, true));
}

// Proves the plan of a kernel in which the buffers S and U have the same memory one after the other. If T, which is
// used together with S, also gets this memory, the plan is not proven.
TEST(SynchronizationProof, ProvesThatBuffersTakeTurns) {
  const Program p = InStages(Stages(4, 64), 64).program();
  ExpectProven(p);
  SyncPlan fault = PlanOf(p);
  ASSERT_EQ(fault.places.size(), 2u);
  fault.places.push_back({fault.places[0].buffer + 1, fault.places[0].place});
  EXPECT_EQ(FindingOf(p, fault).answer, Answer::kUnknown);
  EXPECT_THAT(FindingOf(p, fault).why, testing::HasSubstr("and another buffer in one place"));
}

TEST(SynchronizationProof, SaysWhatIsNotShown) {
  const Program p = Shifted(256, 1, 64);
  const proof::Finding finding = FindingOf(p, {});
  EXPECT_EQ(finding.answer, Answer::kUnknown);
  EXPECT_THAT(finding.why, testing::AllOf(testing::HasSubstr("threads are not shown to wait for each other"),
                                          testing::HasSubstr("use elements of T")));
}

// Proves a program of two kernels, of which the second reads a buffer that the first wrote to global memory. If the
// buffer is in shared memory or registers, the verdict is "too hard": it ends with the first kernel. CheckOwners
// (lang/analysis/owners.cc) refuses such programs, too.
TEST(SynchronizationProof, MemoryEndsWithItsKernel) {
  const Program original = InTwoKernels().program();
  ExpectProven(original);
  for (const Storage storage : {Storage::kShared, Storage::kRegister, Storage::kWarp}) {
    Program p = original;
    for (Buffer& buffer : p.buffers)
      if (buffer.role == Role::kTemporary) buffer.scope = ScopeOf(storage);
    const Proof proof = Prove(original, p);
    EXPECT_EQ(proof.verdict, Proof::Verdict::kTooHard);
    EXPECT_EQ(proof.reason, "block \"use\" uses buffer T, which ends with the kernel of block \"make\"");
  }
}

}  // namespace
}  // namespace kiln
