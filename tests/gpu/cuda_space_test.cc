// Draws schedules from the default space of GPUs, which go through the plan, the code and the emulator.
#include <gtest/gtest.h>

#include "backends/cpu/targets.h"
#include "modules/space.h"
#include "testing/convolution.h"
#include "testing/matmul.h"
#include "testing/softmax.h"
#include "tests/gpu/on_gpu.h"
#include "trace/enumerate.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln {
namespace {

// Every sketch, with one draw, computes what the program computes.
void ExpectSketchesRun(const Program& original, const char* gpu, uint64_t seed) {
  const Target target = NamedTarget(gpu).value();
  const auto sketches = Enumerate(*ParseSpace("cuda"), original, target);
  ASSERT_TRUE(sketches.ok()) << sketches.status();
  for (const Sketch& sketch : sketches->sketches) {
    RandomDice dice(Engine{seed});
    RandomChooser chooser(dice);
    const auto replayed = Replay(sketch.trace, original, target, chooser);
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    SCOPED_TRACE(Print(WithDecisions(*replayed)));
    ExpectSameOnGpu(original, replayed->program());
  }
}

TEST(CudaSpace, RunsProducts) {
  ExpectSketchesRun(Matmul(32, 24, 64), "h100", 1);
  ExpectSketchesRun(Matmul(32, 48, 64), "h100", 3);
}

TEST(CudaSpace, RunsConvolutions) {
  ExpectSketchesRun(Convolution({.size = 4, .channels = 8, .results = 8, .stride = 2}), "a100", 2);
}

TEST(CudaSpace, RunsSoftmax) { ExpectSketchesRun(Softmax(3, 64), "h100", 3); }

}  // namespace
}  // namespace kiln
