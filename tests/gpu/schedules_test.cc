// Tests that programs with GPU schedules that are written by hand are planned, compiled by ptxas, and compute the right
// results in the emulator; and which of them the planner refuses.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lang/program/builder.h"
#include "lang/text/text.h"
#include "testing/convolution.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "testing/softmax.h"
#include "tests/gpu/on_gpu.h"
#include "tests/support/gpu_pairs.h"

namespace kiln {
namespace {

void ExpectSame(const Program& original, const Schedule& schedule) {
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  ExpectSameOnGpu(original, schedule.program());
}

TEST(GpuSchedules, TiledProductWithAPipeline) {
  const Program program = Matmul(32, 24, 16);
  ExpectSame(program, SimtMatmul(program));
}

TEST(GpuSchedules, SoftmaxReducesOverThreads) {
  const Program program = Softmax(3, 64);
  ExpectSame(program, SoftmaxOfRows(program));
}

// Fuses the first `outer` loops of a block, splits them by `threads`, and binds the parts to block-x and thread-x. If
// `threads` does not divide the extent, some threads of the last block have no work.
void BindOuter(Schedule& s, const std::string& block, size_t outer, int64_t threads) {
  auto loops = s.GetLoops(s.GetBlock(block));
  loops.resize(outer);
  const auto parts = s.Split(outer > 1 ? s.Fuse(loops) : loops[0], {kAuto, threads});
  s.Bind(parts[0], LoopKind::kBlockX);
  s.Bind(parts[1], LoopKind::kThreadX);
}

TEST(GpuSchedules, ProductWithAThreadForEachElement) {
  const Program program = Matmul(16, 8, 12);
  Schedule s = Scheduled(program);
  BindOuter(s, "matmul", 2, 32);
  ExpectSame(program, s);
}

TEST(GpuSchedules, EachNestIsAKernel) {
  const Program program = Softmax(5, 33);
  Schedule s = Scheduled(program);
  BindOuter(s, "max", 1, 4);
  BindOuter(s, "exp", 2, 64);
  BindOuter(s, "sum", 1, 4);
  BindOuter(s, "div", 2, 64);
  ExpectSame(program, s);
}

// T = sum of A[i]; C = T + 1, with no loop on a GPU axis. Tests that this makes two kernels of one thread, which pass T
// through the workspace.
TEST(GpuSchedules, ScalarsPassFromKernelToKernel) {
  Builder b("scalars");
  const Id A = b.Input("A", DType::kF32, {8}), T = b.Temporary("T", DType::kF32, {}),
           C = b.Output("C", DType::kF32, {});
  b.Reduce("sum", {{"i", 8, IterKind::kReduction}}, Monoid::Kind::kSum, {T, {}}, b.Load(A, {b.Iter(0)}));
  b.Compute("next", {}, {C, {}}, b.Add(b.Load(T, {}), b.Float(DType::kF32, 1)));
  const Program p = b.Finish();
  ExpectSameOnGpu(p, p);
}

TEST(GpuSchedules, AreRefusedIfPlansDoNotHaveTheirCopiesYet) {
  Schedule s = SimtMatmul(Matmul(32, 24, 16));
  ASSERT_TRUE(s.ok()) << s.status();
  Program in_bulk = s.program();
  for (Ring& ring : in_bulk.rings) ring.transport = Transport::kBulk;
  EXPECT_EQ(plan::PlanKernels(in_bulk).status().message(), "plans for GPUs do not have bulk copies yet");
  Program parallel = Matmul(32, 24, 16);
  for (LoopNode& loop : parallel.loops) loop.kind = LoopKind::kParallel;
  EXPECT_EQ(plan::PlanKernels(parallel).status().message(), "plans for GPUs do not have parallel loops yet");
}

// Checks the results of the schedules of tests/support/gpu_pairs.h: copies, products and transposes that other tests
// use to compare estimates of time.
TEST(GpuSchedules, OfPairs) {
  for (const bool rows : {true, false})
    for (const int64_t vector : {1, 4}) ExpectSameOnGpu(Copy(128, 128), CopyAlong(rows, vector, 128));
  ExpectSameOnGpu(Copy(4, 512), CopyInOneBlock(4, 512));
  ExpectSameOnGpu(Matmul(16, 32, 12), ProductWithoutTiles(16, 32, 12, 64));
  ExpectSameOnGpu(Matmul(64, 32, 4), ProductInOneBlock(64, 32, 4));
  ExpectSameOnGpu(Matmul(64, 64, 64), ProductByTiles(64, 4));
  for (const bool permuted : {true, false})
    ExpectSameOnGpu(TransposedSum(1, 64, 64), TurnedTiles(64, permuted));
}

// Checks programs whose threads read what other threads wrote, each with itself as the original, so that the proof only
// has to show that the threads wait for each other.
TEST(GpuSchedules, ThatWaitForOthers) {
  for (const auto& [shift, threads] : {std::pair{0, 32}, {1, 8}, {1, 64}}) {
    const Program shifted = Shifted(256, shift, threads);
    ExpectSameOnGpu(shifted, shifted);
  }
}

// Checks pipelines that are not inside a loop over thread blocks: the first copies and the loop of the pipeline must be
// in one kernel, since they use the same ring buffer.
TEST(GpuSchedules, PipelinesAtTheRoot) {
  for (const int64_t elements : {8, 32, 64, 256}) {
    for (const char* transport : {"sync", "async"}) {
      SCOPED_TRACE(absl::StrCat(elements, " ", transport));
      const Program copied = Copied(elements, {.stages = {0, 1}, .depths = {2}, .transport = transport});
      ExpectSameOnGpu(copied, copied);
    }
  }
}

TEST(GpuSchedules, AreRefusedIfAKernelUsesTheMemoryOfAnother) {
  auto planned = plan::PlanKernels(Copied(8, {.stages = {0, 1}, .depths = {2}}));
  ASSERT_TRUE(planned.ok()) << planned.status();
  plan::Nodes& kernels = planned->plan.entries[0].nodes;
  ASSERT_EQ(kernels.size(), 1u);
  kernels = plan::Nodes(kernels[0].arms[0]);  // the first copies and the loop apart
  EXPECT_EQ(std::string(LowerKernels(planned->program, planned->plan, Context()).status().message()),
            "kernel copied_3 uses buffer S, which ends with kernel copied_2");
}

constexpr char kPointwise[] = R"(kiln.program v1
program pointwise
parameters A, B, C
buffer A: f32[6, 40] input
buffer B: f16[40] input
buffer C: f32[6, 40] output
buffer T: f32[6, 40] temporary

for i < 6 {
  for j < 40 {
    block scale {
      spatial i < 6 = i
      spatial j < 40 = j
      T[i, j] = A[i, j]*f32(2)
    }
  }
}
for i < 6 {
  for j < 40 {
    block add {
      spatial i < 6 = i
      spatial j < 40 = j
      C[i, j] = max(T[i, j] + f32(B[j]), f32(0))
    }
  }
}
)";

TEST(GpuSchedules, KernelsExchangeTheWorkspace) {
  const auto program = ParseProgram(kPointwise);
  ASSERT_TRUE(program.ok()) << program.status();
  Schedule s = Scheduled(*program);
  BindOuter(s, "scale", 2, 32);
  BindOuter(s, "add", 1, 4);
  ExpectSame(*program, s);
}

// A block "scale" is computed inside the loop over threads of its reader, with its result in global or shared memory.
// Tests that each thread has elements of its own there, although a single element would be enough for each iteration.
TEST(GpuSchedules, ThreadsShareNoElementsOfATemporary) {
  const auto program = ParseProgram(kPointwise);
  ASSERT_TRUE(program.ok()) << program.status();
  for (const char* storage : {"global", "shared"}) {
    SCOPED_TRACE(storage);
    Schedule s = Scheduled(*program);
    BindOuter(s, "add", 1, 4);
    s.ComputeAt(s.GetBlock("scale"), s.GetLoops(s.GetBlock("add"))[1]);
    s.SetScope(s.GetBlock("scale"), storage);
    ExpectSame(*program, s);
  }
}

}  // namespace
}  // namespace kiln
