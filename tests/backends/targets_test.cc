// Tests the table of named target machines (CPUs and GPUs): LLVM knows each CPU, vector sizes and rates are right, and
// the reference page lists them.
#include "backends/cpu/targets.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "tests/support/page.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(Targets, EachNameDescribesAMachineThatLlvmKnows) {
  for (const std::string& name : TargetNames()) {
    const auto target = NamedTarget(name);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(IsHost(*target), name == "host");
    EXPECT_EQ(CheckBuildsModels(*target).ok(), target->gpu == nullptr) << name;
    if (target->gpu != nullptr) continue;
    EXPECT_EQ(target->cores, 1) << name;
    EXPECT_LT(target->l1_bytes, target->l2_bytes) << name;
    EXPECT_LT(target->l2_bytes, target->l3_bytes) << name;
    EXPECT_EQ(target->fingerprint.empty(), name != "host") << name;
  }
}

struct Vectors {
  const char* name;
  int bytes, registers;
  bool fma;
};

TEST(Targets, VectorsAreThoseOfTheMachine) {
  const Vectors all[] = {
      {"x86-64-v2", 16, 16, false},     {"x86-64-v3", 32, 16, true},      {"x86-64-v4", 64, 32, true},
      {"icelake-server", 64, 32, true}, {"sapphirerapids", 64, 32, true}, {"graniterapids", 64, 32, true},
      {"diamondrapids", 64, 32, true},  {"znver3", 32, 16, true},         {"znver4", 64, 32, true},
      {"znver5", 64, 32, true},         {"aarch64", 16, 32, true},        {"cortex-a76", 16, 32, true},
      {"neoverse-n1", 16, 32, true}};
  for (const Vectors& v : all) {
    const Target target = NamedTarget(v.name, 4).value();
    EXPECT_EQ(target.vector_bytes, v.bytes) << v.name;
    EXPECT_EQ(target.vector_registers, v.registers) << v.name;
    EXPECT_EQ(target.fma, v.fma) << v.name;
    EXPECT_EQ(target.cores, 4) << v.name;
  }
}

TEST(Targets, AnUnknownNameListsTheKnownOnes) {
  const absl::Status status = NamedTarget("toaster").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("unknown target \"toaster\"; known: host, x86-64-v2, x86-64-v3, "));
}

TEST(Targets, TheReferenceListsThem) {
  std::vector<std::string> rows;
  for (const std::string& name : TargetNames()) {
    const Target target = NamedTarget(name).value();
    if (target.gpu != nullptr) continue;
    rows.push_back(name == "host" ? "| `host` | this machine | | | |"
                                  : absl::StrCat("| `", name, "` | `", target.triple, "`, `", target.cpu,
                                                 "` | ", target.vector_bytes, " | ", target.vector_registers,
                                                 " | ", target.fma ? "yes" : "no", " |"));
  }
  ExpectTable("docs/reference/cli.md",
              "| target | LLVM's triple and CPU | bytes of a vector | vector registers | multiply-add |",
              rows);
  rows.clear();
  for (const Gpu& gpu : Gpus()) {
    rows.push_back(absl::StrCat("| `", gpu.name, "` | `", gpu.sm, "` | ", gpu.sms, " | ",
                                gpu.shared_per_block >> 10, " | ", gpu.threads_per_sm, " | ",
                                gpu.l2_bytes >> 20, " | ", gpu.clock_ghz, " |"));
  }
  ExpectTable("docs/reference/cli.md",
              "| GPU | kind | SMs | KiB of shared memory a block | threads an SM | MiB of L2 | GHz |", rows);
}

TEST(Targets, AGpuIsARowOfTheTable) {
  const Target target = NamedTarget("h100").value();
  EXPECT_EQ(target.name, "cuda");
  EXPECT_EQ(target.cpu, "sm_90a");
  EXPECT_TRUE(target.gpu->has_wgmma);
  EXPECT_EQ(NamedTarget("sm_80").value().gpu->name, "a100");
  EXPECT_THAT(std::string(CheckBuildsModels(target).message()),
              HasSubstr("whole models are not built for GPUs such as h100 yet"));
}

TEST(Targets, RatesOfGpusAreThoseOfTheirDataSheets) {  // TFLOP/s, f16 with f32 sums, and GB/s
  for (const auto& [name, tflops, bandwidth] :
       {std::tuple{"a100", 312, 2039}, {"h100", 989, 3352}, {"l4", 121, 300}, {"rtx4090", 165, 1008}}) {
    const Gpu& gpu = *FindGpu(name);
    EXPECT_NEAR(2e-3 * gpu.fma_f16 * gpu.sms * gpu.clock_ghz, tflops, 0.01 * tflops) << name;
    EXPECT_NEAR(gpu.dram_bytes_per_cycle * gpu.clock_ghz, bandwidth, 1) << name;
  }
}

}  // namespace
}  // namespace kiln
