// Tests that builder processes compile scheduled programs for a GPU: each output (program, MLIR, LLVM IR, PTX, cubin),
// the folder of objects, and the errors for kernels that spill or take too much shared memory.
#include <gmock/gmock.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "backends/gpu/cuda_tools.h"
#include "lang/text/serialize.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "tests/backends/workers.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

BuildRequest ForH100(const Program& program, std::vector<BuildOutput> outputs) {
  return {.program = Serialize(program),
          .symbol = "product",
          .outputs = std::move(outputs),
          .triple = "nvptx64-nvidia-cuda",
          .cpu = "sm_90a"};
}

Program Tiled() { return SimtMatmul(Matmul(32, 24, 16)).program(); }

TEST(BuildKernels, HasEachStage) {
  const auto pool = StartBuilders();
  const BuildResult built =
      pool->Submit(ForH100(Tiled(),
                           {BuildOutput::kPlan, BuildOutput::kMlir, BuildOutput::kNvvm, BuildOutput::kLlvm,
                            BuildOutput::kPtx, BuildOutput::kCubin, BuildOutput::kEmulated}))
          .get();
  ASSERT_TRUE(built.ok()) << built.error;
  EXPECT_THAT(built.outputs[0], HasSubstr("block-x"));
  EXPECT_THAT(built.outputs[1], HasSubstr("scf.for"));
  EXPECT_THAT(built.outputs[2], HasSubstr("nvvm.kernel"));
  EXPECT_THAT(built.outputs[3], HasSubstr("target triple = \"nvptx64-nvidia-cuda\""));
  EXPECT_THAT(built.outputs[4], HasSubstr(".entry product_0"));
  EXPECT_THAT(built.outputs[4], HasSubstr(".target sm_90a"));
  for (const size_t elf : {5, 6}) EXPECT_EQ(built.outputs[elf].substr(1, 3), "ELF");
  ASSERT_EQ(built.launches.launches.size(), 1);
  EXPECT_EQ(built.launches.launches[0].kernel, "product_0");
  EXPECT_EQ(built.launches.launches[0].threads, 16);
  ASSERT_EQ(built.kernels.size(), 1);
  EXPECT_EQ(built.kernels[0].name, "product_0");
  EXPECT_GT(built.kernels[0].registers, 16);
  EXPECT_EQ(built.kernels[0].spill_stores, 0);
  EXPECT_THAT(built.warnings, IsEmpty());
}

TEST(BuildKernels, RefusesWhatACpuAloneHas) {
  const auto pool = StartBuilders();
  const BuildResult built = pool->Submit(ForH100(Tiled(), {BuildOutput::kSharedObject})).get();
  EXPECT_EQ(built.status, BuildStatus::kBuildFailed);
  EXPECT_EQ(built.error, "of a GPU's program there is no such output");
  BuildRequest for_cpu = ForH100(Matmul(4, 4, 4), {BuildOutput::kPtx});
  for_cpu.triple = for_cpu.cpu = "";
  EXPECT_EQ(pool->Submit(for_cpu).get().error, "of a CPU's program there is no such output");
}

// A product in which each thread keeps a row of 300 sums in registers: a thread has at most 255. The build fails, as
// the kernel spills or has a stack.
TEST(BuildKernels, RefusesAKernelThatSpills) {
  Schedule s = Scheduled(Matmul(64, 300, 4));
  const Block product = s.GetBlock("matmul");
  const auto loops = s.GetLoops(product);
  s.Reorder({loops[0], loops[2], loops[1]});
  const Block store = s.AccumulateAt(product, loops[0], "register");
  s.Bind(loops[0], LoopKind::kThreadX);
  s.Unroll(loops[1]);
  s.Unroll(s.GetLoops(store).back());
  ASSERT_TRUE(s.ok()) << s.status();
  const auto pool = StartBuilders();
  const BuildResult built = pool->Submit(ForH100(s.program(), {BuildOutput::kCubin})).get();
  EXPECT_EQ(built.status, BuildStatus::kBuildFailed);
  EXPECT_THAT(built.error,
              ::testing::MatchesRegex("kernel product_0 (spills|has a stack of) .*the limit is 0"));
}

// A product in which each block of threads copies 8 rows of A to shared memory, 8192 f32 each. The build fails for each
// of three outputs, as a block of the H100 has less shared memory.
TEST(BuildKernels, RefusesAKernelThatTakesMoreSharedMemoryThanABlockHas) {
  Schedule s = Scheduled(Matmul(64, 32, 8192));
  const Block product = s.GetBlock("matmul");
  const auto loops = s.GetLoops(product);
  const auto i = s.Split(loops[0], {kAuto, 8});
  s.Bind(i[0], LoopKind::kBlockX);
  s.Bind(loops[1], LoopKind::kThreadX);
  const Block copy = s.CacheRead(product, 0, "shared");
  s.ComputeAt(copy, i[0]);
  s.CooperativeFetch(copy, 1);
  ASSERT_TRUE(s.ok()) << s.status();
  const auto pool = StartBuilders();
  for (const BuildOutput output : {BuildOutput::kCubin, BuildOutput::kPtx, BuildOutput::kEmulated}) {
    const BuildResult built = pool->Submit(ForH100(s.program(), {output})).get();
    EXPECT_EQ(built.status, BuildStatus::kBuildFailed);
    EXPECT_EQ(built.error,
              "kernel product_0 takes 262144 bytes of shared memory; a block on sm_90a has 232448");
  }
}

TEST(BuildKernels, AreKeptInTheFolderOfObjects) {
  const TemporaryFolder folder;
  const auto pool = StartBuilders();
  BuildRequest request = ForH100(Tiled(), {BuildOutput::kCubin});
  request.object_folder = folder / "objects";
  const BuildResult first = pool->Submit(request).get(), second = pool->Submit(request).get();
  ASSERT_TRUE(first.ok()) << first.error;
  EXPECT_FALSE(first.from_folder);
  EXPECT_TRUE(second.from_folder);
  EXPECT_EQ(first.outputs, second.outputs);
  EXPECT_EQ(first.kernels, second.kernels);
  EXPECT_EQ(first.launches, second.launches);
  request.cpu = "sm_80";
  EXPECT_FALSE(pool->Submit(request).get().from_folder);
}

TEST(CudaTools, ThatAreMissingSayWhereTheyWereLookedFor) {
  const absl::Status status = FindCudaTool("no-such-tool").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("no no-such-tool: install the CUDA toolkit, or set KILN_NO-SUCH-TOOL; looked for /"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("/usr/local/cuda/bin/no-such-tool"));
}

}  // namespace
}  // namespace kiln
