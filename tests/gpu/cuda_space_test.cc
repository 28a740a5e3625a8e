// Draws schedules from the space `cuda` and expects that they are valid. Those of small programs are also compiled, run
// in the emulator, and compared with the interpreter.
#include <gtest/gtest.h>

#include "backends/cpu/targets.h"
#include "lang/graph/merge_dims.h"
#include "modules/space.h"
#include "testing/convolution.h"
#include "testing/matmul.h"
#include "testing/softmax.h"
#include "tests/gpu/on_gpu.h"
#include "tests/support/gpu_pairs.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"
#include "validator/validate.h"

namespace kiln {
namespace {

// Draws one trace from each sketch of the space and expects that its kernels compute what the program computes.
void ExpectSketchesRun(const Program& original, const char* gpu, uint64_t seed, const char* space = "cuda") {
  const Target target = NamedTarget(gpu).value();
  const auto sketches = Enumerate(*ParseSpace(space), original, target);
  ASSERT_TRUE(sketches.ok()) << sketches.status();
  for (const Sketch& sketch : sketches->sketches) {
    RandomDice dice(Engine{seed});
    RandomChooser chooser(dice);
    const auto replayed = Replay(sketch.trace, original, target, chooser);
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    SCOPED_TRACE(Print(WithDecisions(*replayed)));
    ExpectSameOnGpu(replayed->state.Reference(original), replayed->program());
  }
}

TEST(CudaSpace, RunsProducts) {
  ExpectSketchesRun(Matmul(32, 24, 64), "h100", 1);
  ExpectSketchesRun(Matmul(32, 48, 64), "h100", 3);
}

TEST(CudaSpace, RunsPaddedProducts) {
  ExpectSketchesRun(Matmul(49, 24, 33), "h100", 2, "pin site=pad to=1 | cuda");
}

TEST(CudaSpace, RunsConvolutions) {
  ExpectSketchesRun(Convolution({.size = 4, .channels = 8, .results = 8, .stride = 2}), "a100", 2);
}

// Returns a 1 x 1 convolution of stride 2 after MergeDims: a block copies every second pixel of every second row to a
// buffer with one dimension for all pixels, and the convolution reads that buffer with one loop over the pixels.
Program MergedConvolution(int64_t size, int64_t channels, int64_t results) {
  return MergeDims(Convolution(
      {.size = size, .channels = channels, .results = results, .window = 1, .stride = 2, .pad = 0}));
}

TEST(CudaSpace, RunsConvolutionsWithMergedPixels) {
  ExpectSketchesRun(MergedConvolution(4, 8, 32), "h100", 4);
}

TEST(CudaSpace, DrawsValidSchedulesOfMergedPixels) {
  const Program program = MergedConvolution(28, 64, 128);
  const Target target = NamedTarget("h100").value();
  const auto sketches = Enumerate(*ParseSpace("cuda"), program, target);
  ASSERT_TRUE(sketches.ok()) << sketches.status();
  for (uint64_t draw = 0; draw < 150; ++draw) {
    RandomDice dice(Engine({1, draw}));
    RandomChooser chooser(dice);
    const Trace& trace = sketches->sketches[draw % sketches->sketches.size()].trace;
    const auto replayed = Replay(trace, program, target, chooser);
    ASSERT_TRUE(replayed.ok()) << "draw " << draw << ": " << replayed.status();
    EXPECT_EQ(Validate(replayed->program(), target).message, "") << "draw " << draw;
  }
}

TEST(CudaSpace, RunsSoftmax) { ExpectSketchesRun(Softmax(3, 64), "h100", 3); }

TEST(CudaSpace, RunsTransposes) {
  for (const uint64_t seed : {1, 2, 3}) ExpectSketchesRun(TransposedSum(2, 64, 32), "h100", seed);
  ExpectSketchesRun(TransposedSum(1, 64, 192, DType::kF16), "a100", 4);
  ExpectSketchesRun(TransposedSum(1, 16, 32, DType::kF64), "h100", 5);
}

TEST(CudaSpace, RunsTransposesOfIncompleteTiles) {
  ExpectSketchesRun(TransposedSum(2, 3, 70), "h100", 1);
  ExpectSketchesRun(TransposedSum(2, 70, 3), "h100", 2);
  ExpectSketchesRun(TransposedSum(1, 37, 41), "rtx3090", 3);
}

}  // namespace
}  // namespace kiln
