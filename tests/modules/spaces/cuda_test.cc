// Tests the default space of GPUs: under random decisions, of which few are refused, each sketch computes the same as
// the original with pipelined children in turn, late and in random order, and its threads do not race.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "lang/analysis/lowerable.h"
#include "lang/program/builder.h"
#include "lang/reference/symbolic.h"
#include "lang/target/gpu_target.h"
#include "lang/text/text.h"
#include "lang/threads/synchronization.h"
#include "modules/space.h"
#include "testing/convolution.h"
#include "testing/matmul.h"
#include "testing/softmax.h"
#include "testing/threads/thread_clocks.h"
#include "tests/support/gpu_pairs.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"

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

TEST(CudaSpace, RunsProducts) { ExpectSketchesRun(Matmul(8, 12, 6), 4); }

TEST(CudaSpace, RunsPaddedProducts) { ExpectSketchesRun(Matmul(11, 12, 6), 8); }

TEST(CudaSpace, RunsConvolutions) {
  ExpectSketchesRun(Convolution({.size = 4, .channels = 2, .results = 4, .stride = 2}), 4);
}

TEST(CudaSpace, RunsSoftmax) { ExpectSketchesRun(Softmax(3, 12), 3); }

TEST(CudaSpace, RunsTransposes) {
  ExpectSketchesRun(TransposedSum(1, 32, 64), 2);
  ExpectSketchesRun(TransposedSum(2, 5, 35), 2);  // whole columns of 5, incomplete tiles of 35
}

// Returns a convolution in which each channel has a filter of its own.
Program Depthwise(int64_t size, int64_t channels, int64_t window) {
  Builder b("depthwise");
  const IndexSum h = b.Iter(0), w = b.Iter(1), c = b.Iter(2), i = b.Iter(3), j = b.Iter(4);
  const Id X = b.Input("X", DType::kF32, {size + window - 1, size + window - 1, channels});
  const Id W = b.Input("W", DType::kF32, {window, window, channels});
  const Id Y = b.Output("Y", DType::kF32, {size, size, channels});
  b.Reduce("depthwise",
           {{"h", size},
            {"w", size},
            {"c", channels},
            {"i", window, IterKind::kReduction},
            {"j", window, IterKind::kReduction}},
           Monoid::Kind::kSum, {Y, {h, w, c}}, b.Mul(b.Load(X, {h + i, w + j, c}), b.Load(W, {i, j, c})));
  return b.Finish();
}

// Draws of the space for a depthwise convolution leave registers for a thread's operands: each thread holds a sum and
// an element of X for each of its results, and 16 more values.
TEST(CudaSpace, LeavesRegistersForTheElementsThatAThreadMultiplies) {
  const Program program = Depthwise(32, 64, 3);
  const Target target = GpuTarget(*FindGpu("h100"));
  const auto sketches = Enumerate(*ParseSpace("cuda"), program, target);
  ASSERT_TRUE(sketches.ok()) << sketches.status();
  int tiled = 0;
  for (uint64_t draw = 0; draw < 200; ++draw) {
    RandomDice dice(Engine({1, draw}));
    RandomChooser chooser(dice);
    const Trace& trace = sketches->sketches[draw % sketches->sketches.size()].trace;
    const auto replayed = Replay(trace, program, target, chooser);
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    int64_t threads = 0, results = 1;
    for (size_t i = 0; i < replayed->sites.size(); ++i) {
      const std::string name(replayed->name(static_cast<int>(i)));
      const Decision& decision = replayed->sites[i].decision;
      if (absl::EndsWith(name, "depthwise/threads")) threads = decision[0];
      if (absl::StrContains(name, "depthwise/S")) results *= decision[2] * decision[3];
    }
    if (threads == 0) continue;
    ++tiled;
    EXPECT_LE(2 * results + 16,
              std::min<int64_t>(target.gpu->registers_per_thread, target.gpu->registers_per_sm / threads))
        << Print(WithDecisions(*replayed));
  }
  EXPECT_GE(tiled, 150);
}

TEST(CudaSpace, IsTheDefaultOfGpus) {
  EXPECT_EQ(DefaultSpace(GpuTarget(*FindGpu("h100"))), "cuda");
  EXPECT_EQ(DefaultSpace(Target()), "cpu");
}

}  // namespace
}  // namespace kiln
