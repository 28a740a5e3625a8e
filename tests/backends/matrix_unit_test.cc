// Tests calls of matrix units (AMX): the emitted instructions, and their results with C functions in place of
// the instructions.
#include <gtest/gtest.h>

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "backends/codegen/codegen.h"
#include "backends/codegen/context.h"
#include "backends/cpu/targets.h"
#include "build_info.h"
#include "lang/program/builder.h"
#include "modules/space.h"
#include "testing/compiled/run_program.h"
#include "tests/support/run_kiln.h"
#include "trace/enumerate.h"
#include "trace/replay.h"

namespace kiln {
namespace {

struct Unit {
  const char *family, *instruction, *cpu, *a, *b, *c;  // a, b, c: element types of the matrices in C code
  DType operands, sums;
  bool unsigned_a;
};

constexpr Unit kUnits[] = {
    {"amx.u8s8", "tdpbusd", "sapphirerapids", "unsigned char", "signed char", "int", DType::kI8, DType::kI32,
     true},
    {"amx.s8s8", "tdpbssd", "sapphirerapids", "signed char", "signed char", "int", DType::kI8, DType::kI32,
     false},
    {"amx.bf16", "tdpbf16ps", "sapphirerapids", "__bf16", "__bf16", "float", DType::kBF16, DType::kF32,
     false},
    {"amx.f16", "tdpfp16ps", "graniterapids", "_Float16", "_Float16", "float", DType::kF16, DType::kF32,
     false},
};

// C[i, j] sum= A[i, k] * B[k, j], widened. Rows and columns are padded to 32 or 48, the sum to 128 bytes.
constexpr int kM = 30, kN = 40, kK = 120;

Program Product(const Unit& unit) {
  Builder b("product");
  const Id x = b.Input("A", unit.operands, {kM, kK}), y = b.Input("B", unit.operands, {kK, kN}),
           z = b.Output("C", unit.sums, {kM, kN});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), r = Builder::Iter(2);
  b.Reduce("product", {{"i", kM}, {"j", kN}, {"k", kK, IterKind::kReduction}}, Monoid::Kind::kSum,
           {z, {i, j}},
           b.Mul(b.Make(unit.unsigned_a ? Op::kCastUnsigned : Op::kCast, unit.sums, b.Load(x, {i, r})),
                 b.Cast(unit.sums, b.Load(y, {r, j}))));
  return b.Finish();
}

// For every sketch, the program with the first decisions.
std::vector<Program> Tiled(const Unit& unit) {
  const Target target = NamedTarget(unit.cpu).value();
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
  for (const Unit& unit : kUnits) {
    const std::vector<Program> programs = Tiled(unit);
    ASSERT_FALSE(programs.empty());
    for (const Program& p : programs) {
      const std::string code = TextOf(p, unit.cpu, "", Stage::kAssembly);
      EXPECT_GE(Count(code, unit.instruction), 1) << code;
      EXPECT_EQ(Count(code, "tilestored"), Count(code, unit.instruction)) << code;
      EXPECT_EQ(Count(code, "syscall"), 1);
    }
  }
}

TEST(MatrixUnit, IsDescribedToOthers) {
  for (const Unit& unit : kUnits)
    EXPECT_EQ(Count(TextOf(Tiled(unit)[0], "icelake-server", "", Stage::kAssembly), "tile"), 0);
}

// LLVM IR that replaces the instructions by C functions. Tiles are vectors of 256 numbers in memory.
constexpr char kInPlaceOfInstructions[] = R"(
declare void @c_load(ptr, i16, i16, ptr, i64)
declare void @c_store(ptr, i16, i16, ptr, i64)
declare void @c_multiply(ptr, i16, i16, i16, ptr, ptr)
define internal <256 x i32> @tile_load(i16 %rows, i16 %bytes, ptr %from, i64 %apart) {
  %tile = alloca <256 x i32>
  call void @c_load(ptr %tile, i16 %rows, i16 %bytes, ptr %from, i64 %apart)
  %value = load <256 x i32>, ptr %tile
  ret <256 x i32> %value
}
define internal void @tile_store(i16 %rows, i16 %bytes, ptr %to, i64 %apart, <256 x i32> %value) {
  %tile = alloca <256 x i32>
  store <256 x i32> %value, ptr %tile
  call void @c_store(ptr %tile, i16 %rows, i16 %bytes, ptr %to, i64 %apart)
  ret void
}
define internal <256 x i32> @tile_multiply(i16 %m, i16 %n, i16 %k, <256 x i32> %c, <256 x i32> %a, <256 x i32> %b) {
  %x = alloca <256 x i32>
  %y = alloca <256 x i32>
  %z = alloca <256 x i32>
  store <256 x i32> %a, ptr %x
  store <256 x i32> %b, ptr %y
  store <256 x i32> %c, ptr %z
  call void @c_multiply(ptr %z, i16 %m, i16 %n, i16 %k, ptr %x, ptr %y)
  %sums = load <256 x i32>, ptr %z
  ret <256 x i32> %sums
}
define internal <256 x i32> @from_i32(<256 x i32> %value) { ret <256 x i32> %value }
define internal <256 x i32> @to_i32(<256 x i32> %value) { ret <256 x i32> %value }
define internal <256 x i32> @from_f32(<256 x float> %value) {
  %bits = bitcast <256 x float> %value to <256 x i32>
  ret <256 x i32> %bits
}
define internal <256 x float> @to_f32(<256 x i32> %bits) {
  %value = bitcast <256 x i32> %bits to <256 x float>
  ret <256 x float> %value
}
)";

std::string WithFunctions(const std::string& ir, const Unit& unit) {
  std::string text;
  for (const absl::string_view line : absl::StrSplit(ir, '\n'))
    if (!absl::StartsWith(line, "declare") || !absl::StrContains(line, "x86_amx"))
      absl::StrAppend(&text, line, "\n");
  return absl::StrCat(absl::StrReplaceAll(text, {{"@llvm.x86.tileloadd64.internal", "@tile_load"},
                                                 {"@llvm.x86.tilestored64.internal", "@tile_store"},
                                                 {absl::StrCat("@llvm.x86.", unit.instruction, ".internal"),
                                                  "@tile_multiply"},
                                                 {"@llvm.x86.cast.vector.to.tile.v256", "@from_"},
                                                 {"@llvm.x86.cast.tile.to.vector.v256", "@to_"},
                                                 {"x86_amx", "<256 x i32>"}}),
                      kInPlaceOfInstructions);
}

// C code that checks the product on whole numbers, which bf16 and f16 represent exactly and whose sums are
// not rounded.
constexpr char kCheck[] = R"(
__bf16 __truncsfbf2(float x) {  // older compilers' libraries have none
  union { float f; unsigned u; } in = {x};
  union { unsigned short u; __bf16 b; } out = {(unsigned short)(in.u >> 16)};
  return out.b;
}
enum { PER_ROW = 64 / sizeof(C), TOGETHER = sizeof(C) / sizeof(A) };
void c_load(char* tile, short rows, short bytes, const char* from, long apart) {
  for (int r = 0; r < rows; ++r) __builtin_memcpy(tile + 64 * r, from + apart * r, bytes);
}
void c_store(const char* tile, short rows, short bytes, char* to, long apart) {
  for (int r = 0; r < rows; ++r) __builtin_memcpy(to + apart * r, tile + 64 * r, bytes);
}
void c_multiply(C* c, short m, short n, short k, const A* a, const B* b) {  // n and k in bytes
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k / (int)sizeof(C); ++l)
      for (int j = 0; j < n / (int)sizeof(C); ++j)
        for (int t = 0; t < TOGETHER; ++t)
          c[i * PER_ROW + j] += (C)a[(i * PER_ROW + l) * TOGETHER + t] * (C)b[(l * PER_ROW + j) * TOGETHER + t];
}
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
  for (const Unit& unit : kUnits) {
    for (const Program& p : Tiled(unit)) {
      SCOPED_TRACE(unit.family);
      const TemporaryFolder folder;
      folder.Write(
          "product.ll",
          WithFunctions(TextOf(p, "x86-64-v3", "+amx-tile,+amx-int8,+amx-bf16,+amx-fp16", Stage::kOptimized),
                        unit));
      folder.Write("main.c", absl::StrCat("typedef ", unit.a, " A; typedef ", unit.b, " B; typedef ", unit.c,
                                          " C; enum { M = ", kM, ", N = ", kN, ", K = ", kK,
                                          ", LEAST = ", unit.unsigned_a ? 0 : 128, " };", kCheck));
      const std::string compile = absl::StrCat(
          "cd ", folder.path(), " && ", KILN_CXX_COMPILER,
          " -O1 -march=x86-64-v3 -fno-strict-aliasing -nostdlib++ -x c main.c -x ir product.ll -o main");
      ASSERT_EQ(std::system(compile.c_str()), 0);
      EXPECT_EQ(std::system((folder.path() + "/main").c_str()), 0);
    }
  }
}

}  // namespace
}  // namespace kiln
