// Counts instructions in the PTX of matrix products: most of the inner loop are multiply-adds, memory is accessed in
// vectors, and no thread uses local memory.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "testing/gpu_schedules.h"
#include "testing/matmul.h"
#include "tests/gpu/on_gpu.h"

namespace kiln {
namespace {

using Counts = std::map<std::string, int>;  // by instruction

// Returns how often each instruction occurs in the basic block of the PTX text that has the most fma.rn.f32.
Counts InnerLoop(const std::string& ptx) {
  Counts most, block;
  std::stringstream lines(ptx);
  const auto end = [&] {
    if (block["fma.rn.f32"] > most["fma.rn.f32"]) most = block;
    block.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    absl::string_view text = absl::StripAsciiWhitespace(line);
    if (absl::StartsWith(text, "$L")) end();
    if (!absl::EndsWith(text, ";") || absl::StartsWith(text, ".")) continue;
    const std::vector<std::string> words = absl::StrSplit(text, absl::ByAnyChar(" \t;"));
    const std::string& instruction = absl::StartsWith(words[0], "@") ? words.at(1) : words[0];
    ++block[instruction];
    if (absl::StartsWith(instruction, "bra")) end();
  }
  end();
  return most;
}

int Sum(const Counts& counts) {
  int all = 0;
  for (const auto& [instruction, count] : counts) all += count;
  return all;
}

std::string PtxOf(const Schedule& s, const char* chip) {
  EXPECT_TRUE(s.ok()) << s.status();
  const auto planned = plan::PlanKernels(s.program());
  EXPECT_TRUE(planned.ok()) << planned.status();
  auto lowered = LowerKernels(planned->program, planned->plan, Context());
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  EXPECT_EQ(ToNvvm(*lowered->module, lowered->launches), absl::OkStatus());
  const auto stages = ToPtx(*lowered->module, chip);
  EXPECT_TRUE(stages.ok()) << stages.status();
  return stages.ok() ? stages->ptx : "";
}

// Returns the tiling of a product in which a block of threads computes 128 by 128 elements, and a thread 8 by 8 of
// them. Asynchronous copies fill a ring buffer of three steps.
SimtTile LargeTile() {
  SimtTile tile{.rows = {1, 16, 8}, .columns = {1, 16, 8}, .step = 16, .vector = 4};
  tile.pipeline = {.depths = {3}, .transport = "async"};
  tile.unrolled = 4;
  return tile;
}

TEST(GpuInstructions, OfAProductAreMostlyMultiplyAdds) {
  const Program program = Matmul(256, 256, 64);
  for (const char* chip : {"sm_80", "sm_90a"}) {
    SCOPED_TRACE(chip);
    const std::string ptx = PtxOf(TiledProduct(program, LargeTile()), chip);
    Counts loop = InnerLoop(ptx);
    EXPECT_GE(loop["fma.rn.f32"], 256);
    EXPECT_GE(100 * loop["fma.rn.f32"], 85 * Sum(loop)) << testing::PrintToString(loop);
    EXPECT_FALSE(absl::StrContains(ptx, ".local")) << "memory of a thread is not in registers";
    for (const char* wanted : {"ld.shared.v4", "cp.async.cg.shared.global", "st.global.v4"})
      EXPECT_TRUE(absl::StrContains(ptx, wanted)) << wanted;
    const auto cubin = AssemblePtx(ptx, chip);
    ASSERT_TRUE(cubin.ok()) << cubin.status();
    EXPECT_EQ(CheckKernels(cubin->report), absl::OkStatus());
    EXPECT_LE(cubin->report.kernels[0].registers, 168);
  }
}

TEST(GpuInstructions, OfLargeTilesAreRight) {
  const Program program = Matmul(128, 128, 48);
  ExpectSameOnGpu(program, TiledProduct(program, LargeTile()).program(), 1e-3);
}

}  // namespace
}  // namespace kiln
