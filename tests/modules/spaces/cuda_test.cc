// Tests the default space of GPUs: every sketch applies, computes the same as the original in every order of a
// pipeline, and its threads do not race.
#include <gtest/gtest.h>

#include "lang/analysis/lowerable.h"
#include "lang/reference/symbolic.h"
#include "lang/target/gpu_target.h"
#include "lang/text/text.h"
#include "lang/threads/synchronization.h"
#include "modules/space.h"
#include "testing/convolution.h"
#include "testing/matmul.h"
#include "testing/softmax.h"
#include "testing/threads/thread_clocks.h"
#include "trace/enumerate.h"
#include "trace/replay.h"

namespace kiln {
namespace {

void ExpectRuns(const Program& now, const SymbolicOutputs& wanted, uint64_t seed) {
  LoopNestSummary nests;
  nests.Read(now);
  EXPECT_EQ(VerifyLowerable(nests), absl::OkStatus());
  for (const PipelineOrder order : {PipelineOrder::kInTurn, PipelineOrder::kLate, PipelineOrder::kRandom})
    EXPECT_EQ(CheckSymbolic(now, wanted, {.shuffle = seed, .pipelines = order}), absl::OkStatus());
  const auto plan = PlanSynchronization(now);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(CheckThreadClocks(now, *plan), absl::OkStatus());
}

void ExpectSketchesRun(const Program& original, size_t sketches) {
  const auto wanted = RunSymbolic(original);
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  int refused = 0;
  for (const char* gpu : {"a100", "rtx3090", "h100"}) {
    const Target target = GpuTarget(*FindGpu(gpu));
    const auto enumeration = Enumerate(*ParseSpace(DefaultSpace(target)), original, target);
    ASSERT_TRUE(enumeration.ok()) << enumeration.status();
    EXPECT_EQ(enumeration->sketches.size(), sketches);
    for (const DroppedSequence& dropped : enumeration->dropped) ADD_FAILURE() << dropped.reason;
    for (const Sketch& sketch : enumeration->sketches) {
      for (uint64_t seed = 1; seed <= 4; ++seed) {
        RandomDice dice(Engine{seed});
        RandomChooser chooser(dice);
        const auto replayed = Replay(sketch.trace, original, target, chooser);
        refused += !replayed.ok();
        if (!replayed.ok()) continue;
        SCOPED_TRACE(ToString(replayed->program()));
        ExpectRuns(replayed->program(), *wanted, seed);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_LE(refused, 3);  // of 36 or more
}

TEST(CudaSpace, RunsProducts) { ExpectSketchesRun(Matmul(8, 12, 6), 3); }

TEST(CudaSpace, RunsConvolutions) {
  ExpectSketchesRun(Convolution({.size = 4, .channels = 2, .results = 4, .stride = 2}), 3);
}

TEST(CudaSpace, RunsSoftmax) { ExpectSketchesRun(Softmax(3, 12), 3); }

TEST(CudaSpace, IsTheDefaultOfGpus) {
  EXPECT_EQ(DefaultSpace(GpuTarget(*FindGpu("h100"))), "cuda");
  EXPECT_EQ(DefaultSpace(Target()), "cpu");
}

}  // namespace
}  // namespace kiln
