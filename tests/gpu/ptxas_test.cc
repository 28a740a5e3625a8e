// Tests that Kiln finds NVIDIA's assembler ptxas, parses its report (registers, spills, stack, warnings), and refuses
// kernels that spill or may hang.
#include "backends/gpu/ptxas.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "absl/strings/match.h"

namespace kiln {
namespace {

constexpr char kTwoKernels[] = R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'norm_1' for 'sm_80'
ptxas info    : Function properties for norm_1
    288 bytes stack frame, 24 bytes spill stores, 40 bytes spill loads
ptxas info    : Used 255 registers, used 2 barriers, 288 bytes cumulative stack size, 16640 bytes smem, 376 bytes cmem[0]
ptxas info    : Compile time = 51.239 ms
ptxas info    : Compiling entry function 'norm_0' for 'sm_80'
ptxas info    : Function properties for norm_0
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 28 registers, used 0 barriers, 368 bytes cmem[0]
ptxas info    : Compile time = 3.014 ms
)";

TEST(Ptxas, ReportsEachKernel) {
  const PtxasReport report = ParsePtxas(kTwoKernels);
  const std::vector<KernelFacts> wanted = {{.name = "norm_1",
                                            .registers = 255,
                                            .stack = 288,
                                            .spill_stores = 24,
                                            .spill_loads = 40,
                                            .shared = 16640,
                                            .barriers = 2},
                                           {.name = "norm_0", .registers = 28}};
  EXPECT_EQ(report.kernels, wanted);
  EXPECT_EQ(report.warnings, std::vector<std::string>());
}

TEST(Ptxas, SpillsAndStacksAreRefused) {
  const PtxasReport report = ParsePtxas(kTwoKernels);
  EXPECT_EQ(CheckKernels(report).message(), "kernel norm_1 spills 24 bytes of registers; the limit is 0");
  EXPECT_EQ(CheckKernels(report, {.spills = 64}).message(),
            "kernel norm_1 has a stack of 288 bytes; the limit is 0");
  EXPECT_EQ(CheckKernels(report, {.stack = 288, .spills = 64}), absl::OkStatus());
}

TEST(Ptxas, WarningsThatMayHangAreRefused) {
  const PtxasReport report = ParsePtxas(
      "ptxas info    : (C7508) Potential Performance Loss: warning: 'setmaxnreg' ignored to maintain minimum "
      "register requirements.\n"
      "ptxas info    : Compiling entry function 'k_0' for 'sm_90a'\n"
      "ptxas info    : Used 90 registers, used 1 barriers\n");
  ASSERT_EQ(report.warnings.size(), 1);
  EXPECT_TRUE(absl::StrContains(CheckKernels(report).message(), "C7508"));
}

TEST(Ptxas, SaysWhereItWasLookedFor) {
  setenv("KILN_PTXAS", "/nowhere/ptxas", 1);
  EXPECT_EQ(FindPtxas().status().message(),
            "no ptxas: install the CUDA toolkit or PyPI's nvidia-cuda-nvcc, or set KILN_PTXAS; looked for "
            "/nowhere/ptxas");
  unsetenv("KILN_PTXAS");
  EXPECT_TRUE(FindPtxas().ok()) << FindPtxas().status();
}

TEST(Ptxas, ExplainsARefusedText) {
  const auto refused = AssemblePtx(".version 8.0\n.target sm_80\n.address_size 64\nnonsense\n", "sm_80");
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(refused.status().message(), "nonsense")) << refused.status();
}

}  // namespace
}  // namespace kiln
