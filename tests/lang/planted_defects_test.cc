// Tests planted defects (lang/base/defect.h) that random programs do not show. With the defect, a rule lets a program
// pass that it should refuse, or an analysis gives a wrong number. docs/fuzzing.md lists the tests that find each
// defect. Builds without defects skip these tests.
#include <gtest/gtest.h>

#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loop_nest_summary.h"
#include "lang/analysis/lowerable.h"
#include "lang/base/defect.h"
#include "lang/text/text.h"
#include "lang/threads/synchronization.h"
#include "lang/verify/verify.h"
#include "testing/matmul.h"
#include "testing/threads/thread_clocks.h"
#include "tests/lang/restricted.h"
#include "validator/proof/proof.h"

namespace kiln {
namespace {

class PlantedDefects : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasDefects()) GTEST_SKIP() << "this build has no defects";
  }
  void TearDown() override { PlantDefect(""); }
};

// Returns the schedule block-x: { first: S = A, by 8 threads;  for i, pipelined: { load: T = S, by a producer;  use: C
// = T } }
Schedule ProducerOfWhatTheKernelWrites() {
  Builder b("chain");
  const Id A = b.Input("A", DType::kF32, {8}), S = b.Temporary("S", DType::kF32, {8}),
           T = b.Temporary("T", DType::kF32, {8}), C = b.Output("C", DType::kF32, {8});
  const std::vector<IndexSum> i = {b.Iter(0)};
  b.Compute("first", {{"i", 8}}, {S, i}, b.Load(A, i));
  b.Compute("load", {{"i", 8}}, {T, i}, b.Load(S, i));
  b.Compute("use", {{"i", 8}}, {C, i}, b.Load(T, i));
  Schedule s = Scheduled(b.Finish());
  const Block first = s.GetBlock("first"), load = s.GetBlock("load"), use = s.GetBlock("use");
  const Loop block = s.AddUnitLoop(s.GetLoops(use)[0]), steps = s.GetLoops(use)[1];
  s.ComputeAt(load, steps);
  s.ComputeAt(first, block);
  s.Bind(block, LoopKind::kBlockX);
  s.Bind(s.GetLoops(first).back(), LoopKind::kThreadX);
  s.SetScope(first, "shared");
  s.SetScope(load, "shared");
  s.Pipeline(steps, {.producers = {0}});
  return s;
}

TEST_F(PlantedDefects, AProducerRacesWithTheThreadsOfItsKernel) {
  EXPECT_FALSE(ProducerOfWhatTheKernelWrites().ok());
  PlantDefect("pipeline.ahead");
  const Schedule s = ProducerOfWhatTheKernelWrites();
  ASSERT_TRUE(s.ok()) << s.status();
  const auto plan = PlanSynchronization(s.program());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(CheckThreadClocks(s.program(), *plan).code(), absl::StatusCode::kFailedPrecondition);
  PlantDefect("");
  EXPECT_FALSE(Verify(s.program()).ok());
}

TEST_F(PlantedDefects, AKernelReadsTheSharedMemoryOfAnother) {
  const auto shared = [] {
    Schedule s = InTwoKernels();
    s.SetScope(s.GetBlock("make"), "shared");
    return s;
  };
  EXPECT_FALSE(shared().ok());
  PlantDefect("owners.kernels");
  const Schedule s = shared();
  ASSERT_TRUE(s.ok()) << s.status();
  LoopNestSummary nests;
  nests.Read(s.program());
  EXPECT_TRUE(VerifyLowerable(nests).ok());
  const auto plan = PlanSynchronization(s.program());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(CheckThreadClocks(s.program(), *plan).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(Prove(InTwoKernels().program(), s.program()).verdict, Proof::Verdict::kProven);
}

TEST_F(PlantedDefects, WhatIsNotCopiedTravelsAsynchronously) {
  const auto packed = [] {
    Schedule s = Scheduled(Packed());
    s.ComputeAt(s.GetBlock("pack"), s.GetLoops(s.GetBlock("square"))[0]);
    s.Pipeline(s.GetLoops(s.GetBlock("square"))[0], {.transport = "async"});
    return s.ok();
  };
  EXPECT_FALSE(packed());
  PlantDefect("pipeline.transport");
  EXPECT_TRUE(packed());
}

TEST_F(PlantedDefects, ASerialLoopIndexesRegisters) {
  Schedule s = Scheduled(Matmul(4, 4, 4));
  s.CacheWrite(s.GetBlock("matmul"), "register");
  ASSERT_TRUE(s.ok()) << s.status();
  LoopNestSummary nests;
  nests.Read(s.program());
  EXPECT_FALSE(VerifyLowerable(nests).ok());
  PlantDefect("lowerable.registers");
  EXPECT_TRUE(VerifyLowerable(nests).ok());
}

// A copy of a tile of B has memory for the tile (3 by 10 elements), and with the defect for all of B (12 by 10). The
// loop over the elements of the tile is split by 7; the row of element n in the buffer is n/10, added to the first row
// of the tile.
TEST_F(PlantedDefects, ATileTakesTheMemoryOfTheWholeBuffer) {
  Schedule s = Scheduled(Matmul(4, 10, 12));
  const Block matmul = s.GetBlock("matmul");
  const auto loops = s.GetLoops(matmul);
  const auto k = s.Split(loops[2], {kAuto, 3});
  s.Reorder({k[0], loops[0], loops[1], k[1]});
  const Block copy = s.CacheRead(matmul, 1, "shared");
  s.ComputeAt(copy, k[0]);
  const auto own = s.GetLoops(copy);
  s.Split(s.Fuse({own[own.size() - 2], own.back()}), {kAuto, 7});
  ASSERT_TRUE(s.ok()) << s.status();
  const Id buffer = WrittenBuffers(s.program(), s.node(copy))[0];
  const auto elements = [&] {
    LoopNestSummary nests;
    nests.Read(s.program());
    return nests.buffers()[buffer].elements;
  };
  EXPECT_EQ(elements(), 3 * 10);
  PlantDefect("nests.digits");
  EXPECT_EQ(elements(), 12 * 10);
}

}  // namespace
}  // namespace kiln
