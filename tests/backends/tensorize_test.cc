// Tests that tiles of products which call intrinsics compile to the instructions of the target machine and compute the
// right results. cpu_instructions_test.cc tests each instruction by itself.
#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen/codegen.h"
#include "backends/codegen/context.h"
#include "lang/patterns/intrinsic.h"
#include "testing/compiled/run_program.h"
#include "testing/matmul.h"
#include "tests/support/tensorized.h"

namespace kiln {
namespace {

absl::StatusOr<std::string> Assembly(const Program& p, const MachineTarget& machine) {
  const auto codegen = Codegen::Create(machine);
  if (!codegen.ok()) return codegen.status();
  auto module = Lower(p, Context(),
                      {.vector_bytes = machine.vector_bytes,
                       .vector_registers = machine.vector_registers,
                       .features = machine.features});
  if (!module.ok()) return module.status();
  return (*codegen)->Text(**module, {.entries = {{.name = p.name, .noalias = true}}}, Stage::kAssembly);
}

constexpr char kX86[] = "x86_64-pc-linux-gnu", kArm[] = "aarch64-unknown-linux-gnu";

TEST(LowerTensorize, FusedMultiplyAddsAccumulateInRegisters) {
  const Target target;
  const IntrinsicFamily& unit = *target.matrix_intrinsics()[0];
  ASSERT_EQ(unit.name, "fma.6x16");
  for (const auto& [m, n, k] : {std::array{12, 32, 8}, {7, 17, 5}}) {
    auto loaded = BuildProgram(Tensorized(Matmul(m, n, k), "matmul", unit));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    auto a = Random<float>(m * k, 1), b = Random<float>(k * n, 2);
    Array<float> c(m * n, 99.f);
    ASSERT_EQ(CallKernel(*loaded, "matmul", {a.data(), b.data(), c.data()}), 0);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
        ASSERT_EQ(c[i * n + j], sum) << i << " " << j;
      }
    }
  }
}

// Compiles a product of seven rows in tiles of four, so that the last tile is incomplete. Tests that its rows are right
// and use the instruction vpdpbusd, too.
TEST(LowerTensorize, CallsOfIncompleteTilesAreInstructionsToo) {
  const CpuInstruction& row = RowOf("vnni.8x4");
  const Program p = TiledRows(Product(row, 7), FamilyOf(row), 4);
  for (const std::string& features : {std::string(), Host().features}) {
    auto loaded = BuildProgram(p, {.features = features});
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    auto a = Random<uint8_t>(7 * 12, 1, 0, 255);
    auto b = Random<int8_t>(16 * 12, 2, -128, 127);
    Array<int32_t> c(7 * 16, 99);
    ASSERT_EQ(CallKernel(*loaded, "product", {a.data(), b.data(), c.data()}), 0);
    for (int i = 0; i < 7; ++i) {
      for (int j = 0; j < 16; ++j) {
        int32_t sum = 0;
        for (int k = 0; k < 12; ++k) sum += a[i * 12 + k] * b[j * 12 + k];
        ASSERT_EQ(c[i * 16 + j], sum) << i << " " << j;
      }
    }
  }
  const auto code = Assembly(p, Named(kX86, "alderlake").value());
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_TRUE(absl::StrContains(*code, "vpdpbusd"));
  EXPECT_FALSE(absl::StrContains(*code, "vpmulld"));  // the description's loops would multiply by it
}

TEST(LowerTensorize, CallsAreInstructionsOfMachinesThatHaveThem) {
  struct Case {
    const char *family, *triple, *cpu, *text;
  };
  for (const Case& c : std::vector<Case>{{"vnni.16x4", kX86, "icelake-server", "vpdpbusd"},
                                         {"vnni.8x4", kX86, "alderlake", "{vex}\tvpdpbusd"},
                                         {"vnni.8x4", kX86, "x86-64-v3", ""},
                                         {"vnni.s8.16x4", kX86, "icelake-server", "vpdpbusd"},
                                         {"vnni.s8.8x4", kX86, "alderlake", "{vex}\tvpdpbusd"},
                                         {"bf16.16x2", kX86, "sapphirerapids", "vdpbf16ps"},
                                         {"bf16.16x2", kX86, "icelake-server", ""},
                                         {"f16.16x2", kX86, "diamondrapids", "vdpphps"},
                                         {"f16.16x2", kX86, "icelake-server", ""},
                                         {"sdot.4x4", kArm, "neoverse-n1", "sdot\t"},
                                         {"sdot.4x4", kArm, "generic", ""},
                                         {"usdot.4x4", kArm, "neoverse-v1", "usdot\t"}}) {
    SCOPED_TRACE(absl::StrCat(c.family, " for ", c.cpu));
    const auto code = Assembly(Tensorized(RowOf(c.family)), Named(c.triple, c.cpu).value());
    ASSERT_TRUE(code.ok()) << code.status();
    for (const char* dot : {"vpdpbusd", "vdpbf16ps", "vdpphps", "dot\t"})
      EXPECT_EQ(absl::StrContains(*code, dot), absl::StrContains(c.text, dot)) << dot;
    EXPECT_TRUE(absl::StrContains(*code, c.text));
  }
}

}  // namespace
}  // namespace kiln
