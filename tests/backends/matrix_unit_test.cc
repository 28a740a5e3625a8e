// Tests products that are tiled for the matrix unit of x86, AMX: the code contains its instructions and keeps sums in
// its registers, and results are right with C functions in place of the instructions.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen/codegen.h"
#include "backends/codegen/context.h"
#include "backends/cpu/targets.h"
#include "lang/intrinsics/cpu_instructions.h"
#include "lang/program/builder.h"
#include "modules/space.h"
#include "testing/compiled/run_program.h"
#include "tests/support/instructions_in_c.h"
#include "trace/enumerate.h"
#include "trace/replay.h"

namespace kiln {
namespace {

std::vector<CpuInstruction> Units() {
  std::vector<CpuInstruction> units;
  for (const CpuInstruction& row : CpuInstructions())
    if (row.kind == CpuInstruction::Kind::kTile) units.push_back(row);
  return units;
}

constexpr char kFeatures[] = "+amx-tile,+amx-int8,+amx-bf16,+amx-fp16";

// The extents of the program C[i, j] sum= A[i, k] * B[k, j], where A and B are widened to the type of C. They are no
// multiples of the tiles of the matrix unit, so that the product is padded.
constexpr int kM = 30, kN = 40, kK = 120;

Program Product(const CpuInstruction& unit) {
  Builder b("product");
  const DType factor = *ParseDType(unit.factor), sum = *ParseDType(unit.sum);
  const Id x = b.Input("A", factor, {kM, kK}), y = b.Input("B", factor, {kK, kN}),
           z = b.Output("C", sum, {kM, kN});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), r = Builder::Iter(2);
  b.Reduce("product", {{"i", kM}, {"j", kN}, {"k", kK, IterKind::kReduction}}, Monoid::Kind::kSum,
           {z, {i, j}},
           b.Mul(b.Make(unit.unsigned_a ? Op::kCastUnsigned : Op::kCast, sum, b.Load(x, {i, r})),
                 b.Cast(sum, b.Load(y, {r, j}))));
  return b.Finish();
}

// Returns the programs of all sketches that tile the product for this matrix unit. The decisions are those that the
// enumeration drew.
std::vector<Program> Tiled(const CpuInstruction& unit) {
  Target target = NamedTarget("x86-64-v4").value();
  absl::StrAppend(&target.features, ",", kFeatures);
  const Program product = Product(unit);
  const auto space = ParseSpace(absl::StrCat(
      "pin site=intrinsic to=1 | each-block(multi-level-tiling-with-intrinsic families=", unit.family, ")"));
  const auto sketches = Enumerate(*space, product, target);
  EXPECT_TRUE(sketches.ok()) << sketches.status();
  std::vector<Program> programs;
  for (const Sketch& sketch : sketches->sketches)
    programs.push_back(Replay(sketch.trace, product, target)->program());
  return programs;
}

std::string TextOf(const Program& p, const std::string& cpu, const std::string& features, Stage stage) {
  const MachineTarget machine = Named("x86_64-pc-linux-gnu", cpu, features).value();
  auto module = Lower(p, Context(),
                      {.vector_bytes = machine.vector_bytes,
                       .vector_registers = machine.vector_registers,
                       .features = machine.features});
  EXPECT_TRUE(module.ok()) << module.status();
  return Codegen::Create(machine)
      .value()
      ->Text(**module, {.entries = {{.name = p.name, .noalias = true}}}, stage)
      .value();
}

TEST(MatrixUnit, KeepsSumsInItsRegisters) {
  for (const CpuInstruction& unit : Units()) {
    const std::vector<Program> programs = Tiled(unit);
    ASSERT_FALSE(programs.empty());
    for (const Program& p : programs) {
      const std::string code = TextOf(p, "x86-64-v4", kFeatures, Stage::kAssembly);
      EXPECT_GE(Count(code, "tdp"), 1) << code;
      EXPECT_EQ(Count(code, "tilestored"), Count(code, "tdp")) << code;
      EXPECT_EQ(Count(code, "syscall"), 1);
      EXPECT_EQ(Count(code, ".init_array"), 1) << "loaders run no other section";
    }
  }
}

TEST(MatrixUnit, IsDescribedToOthers) {
  for (const CpuInstruction& unit : Units())
    EXPECT_EQ(Count(TextOf(Tiled(unit)[0], "icelake-server", "", Stage::kAssembly), "tile"), 0);
}

// A C program that calls the product on small whole numbers, for which all types are exact, and returns 0 if the result
// equals that of plain loops.
constexpr char kCheck[] = R"(
int product(void*, void*, void*);
static _Alignas(64) A a[M * K]; static _Alignas(64) B b[K * N]; static _Alignas(64) C c[M * N];
int main(void) {
  for (int i = 0; i < M * K; ++i) a[i] = (A)(i * 37 % 256 - LEAST);
  for (int i = 0; i < K * N; ++i) b[i] = (B)(i * 91 % 256 - 128);
  if (product(a, b, c) != 0) return 1;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      C sum = 0;
      for (int k = 0; k < K; ++k) sum += (C)a[i * K + k] * (C)b[k * N + j];
      if (c[i * N + j] != sum) return 2;
    }
  return 0;
}
)";

TEST(MatrixUnit, ComputesTheProduct) {
  const Target host = CpuTarget();
  if (!absl::StrContains(host.triple, "x86_64") || host.vector_bytes < 32)
    GTEST_SKIP() << "no x86-64 with AVX2";
  for (const CpuInstruction& unit : Units()) {
    for (const Program& p : Tiled(unit)) {
      SCOPED_TRACE(unit.family);
      const std::string ir = TextOf(p, "x86-64-v3", kFeatures, Stage::kOptimized);
      const std::string sizes = absl::StrCat("enum { M = ", kM, ", N = ", kN, ", K = ", kK,
                                             ", LEAST = ", unit.unsigned_a ? 0 : 128, " };");
      EXPECT_EQ(RunWithC(WithCFunctions(ir, unit), absl::StrCat(CFunctions(unit), sizes, kCheck)), 0);
    }
  }
}

}  // namespace
}  // namespace kiln
