// Tests the validator's checks for GPUs: limits of threads, grid, shared memory, registers and vectors, and no parallel
// loops. Also tests the count of registers that a thread holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lang/program/builder.h"
#include "lang/text/text.h"
#include "lang/threads/held_registers.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "testing/softmax.h"
#include "testing/stages.h"
#include "validator/validate.h"

namespace kiln {
namespace {

Target H100() {
  Target target;
  target.name = "cuda";
  target.gpu = FindGpu("h100");
  target.vector_bytes = 16;
  return target;
}

std::string WhyRefused(const Program& program, const Target& target = H100()) {
  return std::string(Validate(program, target).status().message());
}

// Returns a matrix product of m by n elements with k terms each. Each thread computes one element, and a block has
// `threads` threads.
Program Product(int64_t m, int64_t n, int64_t threads, int64_t k = 4) {
  Schedule s = Scheduled(Matmul(m, n, k));
  auto loops = s.GetLoops(s.GetBlock("matmul"));
  const auto parts = s.Split(s.Fuse({loops[0], loops[1]}), {kAuto, threads});
  s.Bind(parts[0], LoopKind::kBlockX);
  s.Bind(parts[1], LoopKind::kThreadX);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

// Returns a matrix product whose threads, `threads` in a block, hold `per` sums each in registers.
Program HeldSums(int64_t per, int64_t threads = 32) {
  Schedule s = Scheduled(Matmul(64 * threads, per, 16));
  const Block product = s.GetBlock("matmul");
  const auto loops = s.GetLoops(product);
  const auto i = s.Split(loops[0], {kAuto, threads});
  s.Reorder({i[0], i[1], loops[2], loops[1]});
  s.Bind(i[0], LoopKind::kBlockX);
  s.Bind(i[1], LoopKind::kThreadX);
  const Block store = s.AccumulateAt(product, i[1], "register");
  s.Unroll(loops[1]);
  s.Unroll(s.GetLoops(store).back());
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

TEST(GpuChecks, AcceptSchedulesThatFit) {
  EXPECT_EQ(WhyRefused(SimtMatmul(Matmul(32, 24, 16)).program()), "");
  EXPECT_EQ(WhyRefused(SoftmaxOfRows(Softmax(3, 64)).program()), "");
}

// Accepts a program in which thread t holds the elements t, t + 32, t + 64, ... of a row in registers: these are 64
// registers, though the first and the last element are almost 2,048 elements apart.
TEST(GpuChecks, CountTheElementsOfAThreadAndNotWhatIsBetweenThem) {
  Builder b("rows");
  const Id A = b.Input("A", DType::kF32, {16, 2048}), C = b.Output("C", DType::kF32, {16, 2048});
  const std::vector<IndexSum> index = {b.Iter(0), b.Iter(1)};
  b.Compute("use", {{"i", 16}, {"j", 2048}}, {C, index}, b.Load(A, index));
  Schedule s = Scheduled(b.Finish());
  const Block row = s.CacheRead(s.GetBlock("use"), 0, "register");
  for (const Block block : {row, s.GetBlock("use")}) {
    const auto loops = s.GetLoops(block);
    const auto j = s.Split(loops[1], {64, 32});
    s.Reorder({loops[0], j[1], j[0]});
    s.Unroll(j[0]);
  }
  const Loop i = s.Merge(s.GetLoops(row)[0], s.GetLoops(s.GetBlock("use"))[0]);
  s.Bind(i, LoopKind::kBlockX);
  for (const Block block : {row, s.GetBlock("use")}) s.Bind(s.GetLoops(block)[1], LoopKind::kThreadX);
  ASSERT_TRUE(s.ok()) << s.status();
  EXPECT_EQ(WhyRefused(s.program()), "");
}

TEST(GpuChecks, LimitThreads) {
  EXPECT_EQ(WhyRefused(Product(64, 64, 1024)), "");
  EXPECT_EQ(WhyRefused(Product(64, 64, 2048)),
            "check gpu-threads: the kernel of loop i_j_0 has blocks of 2048 threads; h100 runs 1024 at most");
}

TEST(GpuChecks, LimitTheGrid) {
  EXPECT_EQ(WhyRefused(Product(1 << 20, 1 << 15, 32)), "");
  EXPECT_EQ(
      WhyRefused(Product(1 << 20, 1 << 17, 32)),
      "check gpu-launch: the kernel of loop i_j_0 has 4294967296 * 1 * 1 blocks; a launch has 2147483647 "
      "at most");
}

TEST(GpuChecks, RefuseParallelLoops) {
  Program program = Product(64, 64, 32);
  for (LoopNode& loop : program.loops)
    if (loop.kind == LoopKind::kBlockX) loop.kind = LoopKind::kParallel;
  EXPECT_EQ(WhyRefused(program),
            "check gpu-launch: loop i_j_0 is parallel; loops for h100 are on axes of blocks and threads");
}

TEST(GpuChecks, LimitSharedMemory) {
  const auto staged = [](int64_t k) {  // a block of threads stages 8 rows of A
    Schedule s = Scheduled(Matmul(64, 32, k));
    const Block product = s.GetBlock("matmul");
    const auto loops = s.GetLoops(product);
    const auto i = s.Split(loops[0], {kAuto, 8});
    s.Bind(i[0], LoopKind::kBlockX);
    s.Bind(loops[1], LoopKind::kThreadX);
    const Block copy = s.CacheRead(product, 0, "shared");
    s.ComputeAt(copy, i[0]);
    s.CooperativeFetch(copy, 1);
    EXPECT_TRUE(s.ok()) << s.status();
    return s.program();
  };
  EXPECT_EQ(WhyRefused(staged(4096)), "");
  EXPECT_EQ(
      WhyRefused(staged(8192)),
      "check gpu-shared: the kernel of loop i_0 needs 262144 bytes of shared memory; a block of h100 has 232448");
  Target small = H100();
  small.gpu = FindGpu("l4");
  EXPECT_NE(WhyRefused(staged(4096), small), "");
}

// The check of shared memory counts all elements of T, not those of one iteration of i: as far as the analysis knows,
// an iteration of i may read elements that another one wrote.
TEST(GpuChecks, CountAllOfABufferThatIterationsHandOn) {
  const auto carried = [](int rows) {
    const auto program = ParseProgram(absl::StrReplaceAll(R"(kiln.program v1
program carried
parameters A, S
buffer A: f32[64, <rows>] input
buffer S: f32[64] output
buffer T: f32[<rows>, 64] temporary shared/block
for i < 64 {
  for r < <rows> {
    block copy { spatial i < 64 = i  spatial r < <rows> = r  T[r, i] = A[i, r] }
    for n < 2 { block sum {
      let m0 = n < 1
      spatial i < 64 = i + n where m0  reduction r < <rows> = r
      S[i] sum= T[r, i]
    } }
  }
}
)",
                                                          {{"<rows>", absl::StrCat(rows)}}));
    EXPECT_TRUE(program.ok()) << program.status();
    return *program;
  };
  EXPECT_EQ(WhyRefused(carried(512)), "");
  EXPECT_EQ(
      WhyRefused(carried(1024)),
      "check gpu-shared: the kernel of loop i needs 262144 bytes of shared memory; a block of h100 has 232448");
}

// The check of shared memory counts buffers with the same memory once. Each row goes through three buffers, of which
// the last one has the memory of the first.
TEST(GpuChecks, CountBuffersInOnePlaceOnce) {
  const auto stages = [](int64_t columns) { return InStages(Stages(2, columns), 1024).program(); };
  EXPECT_EQ(WhyRefused(stages(24 * 1024)), "");
  EXPECT_EQ(
      WhyRefused(stages(30 * 1024)),
      "check gpu-shared: the kernel of loop i needs 245760 bytes of shared memory; a block of h100 has 232448");
}

TEST(GpuChecks, LimitRegisters) {
  EXPECT_EQ(WhyRefused(HeldSums(128)), "");
  EXPECT_EQ(
      WhyRefused(HeldSums(256)),
      "check gpu-registers: a thread of the kernel of loop i_0 holds 256 registers and needs 16 more; it has "
      "255 of h100");
  EXPECT_THAT(WhyRefused(HeldSums(128, 1024)), testing::HasSubstr("it has 64 of h100"));
}

TEST(GpuChecks, LimitVectors) {
  const auto copied = [](int64_t lanes) {
    Schedule s = Scheduled(Matmul(32, 64, 8));
    const auto loops = s.GetLoops(s.GetBlock("matmul"));
    const auto j = s.Split(loops[1], {kAuto, lanes});
    s.Reorder({loops[0], j[0], loops[2], j[1]});
    s.Bind(loops[0], LoopKind::kBlockX);
    s.Bind(j[0], LoopKind::kThreadX);
    s.Vectorize(j[1]);
    EXPECT_TRUE(s.ok()) << s.status();
    return s.program();
  };
  EXPECT_EQ(WhyRefused(copied(4)), "");
  EXPECT_EQ(
      WhyRefused(copied(8)),
      "check gpu-vectors: loop j_1 makes vectors of 32 bytes in block \"matmul\"; a thread moves 16 at once");
}

TEST(GpuChecks, AreNotForCpus) {
  Target cpu;
  EXPECT_EQ(Validate(Product(64, 64, 2048), cpu).check, "");
  EXPECT_EQ(Validate(HeldSums(128), cpu).check, "register-tile");
}

TEST(HeldRegisters, CountsBuffersWhileTheyAreUsed) {
  const auto held = [](const Program& p) {
    LoopNestSummary nests;
    nests.Read(p);
    return HeldRegisters(nests, p.nodes[kRoot].first);
  };
  EXPECT_EQ(held(HeldSums(16)), 16);
  EXPECT_EQ(held(Product(64, 64, 32)), 0);
  // A thread of softmax holds 9 registers: 8 elements of a row and their maximum, later 8 results of exp and their sum.
  EXPECT_EQ(held(SoftmaxOfRows(Softmax(3, 64)).program()), 9);
}

}  // namespace
}  // namespace kiln
