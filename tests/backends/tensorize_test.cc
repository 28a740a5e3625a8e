// Compiles calls of intrinsics from their descriptions and compares the results with plain loops.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <regex>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "backends/codegen/codegen.h"
#include "backends/codegen/context.h"
#include "build_info.h"
#include "lang/patterns/intrinsic.h"
#include "testing/compiled/run_program.h"
#include "testing/matmul.h"
#include "tests/support/run_kiln.h"
#include "tests/support/tensorized.h"

namespace kiln {
namespace {

// Compiles a program to object code, or to the text of a stage.
absl::StatusOr<std::string> CodeFor(const Program& p, const MachineTarget& machine,
                                    std::optional<Stage> stage = std::nullopt) {
  const auto codegen = Codegen::Create(machine);
  if (!codegen.ok()) return codegen.status();
  auto module = Lower(p, Context(),
                      {.vector_bytes = machine.vector_bytes,
                       .vector_registers = machine.vector_registers,
                       .features = machine.features});
  if (!module.ok()) return module.status();
  const CodegenOptions options{.entries = {{.name = p.name, .noalias = true}}};
  if (stage) return (*codegen)->Text(**module, options, *stage);
  auto object = (*codegen)->Compile(**module, options);
  if (!object.ok()) return object.status();
  return object->bytes;
}

constexpr char kX86[] = "x86_64-pc-linux-gnu", kArm[] = "aarch64-unknown-linux-gnu";

// Checks a product of bytes, `rows` x 12 times 12 x 16, compiled from descriptions and, if this machine has
// them, with instructions.
template <typename A>
void ExpectProductOfBytes(const Program& p, int rows) {
  for (const std::string& features : {std::string(), Host().features}) {
    auto loaded = BuildProgram(p, {.features = features});
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    auto a = Random<A>(rows * 12, 1, std::numeric_limits<A>::min(), std::numeric_limits<A>::max());
    auto b = Random<int8_t>(16 * 12, 2, -128, 127);
    Array<int32_t> c(rows * 16, 99);
    ASSERT_EQ(CallKernel(*loaded, "product", {a.data(), b.data(), c.data()}), 0);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < 16; ++j) {
        int32_t sum = 0;
        for (int k = 0; k < 12; ++k) sum += a[i * 12 + k] * b[j * 12 + k];
        ASSERT_EQ(c[i * 16 + j], sum) << i << " " << j;
      }
    }
  }
}

template <typename A>
void MultipliesBytes(const char* name, bool unsigned_a) {
  const IntrinsicFamily unit = FamilyOf(name, 1, 8, 4);
  ExpectProductOfBytes<A>(Tensorized(Product(unit, DType::kI8, DType::kI32, unsigned_a), "product", unit), 2);
}

TEST(LowerTensorize, BytesAndInt8MultiplyAsVnniDoes) { MultipliesBytes<uint8_t>("vnni.8x4", true); }
TEST(LowerTensorize, SignedBytesMultiplyByUnsignedOnes) { MultipliesBytes<int8_t>("vnni.s8.8x4", false); }

TEST(LowerTensorize, PairsOfBf16AreMultipliedAndAdded) {
  const IntrinsicFamily unit = FamilyOf("bf16.16x2", 1, 16, 2);
  const Program p = Tensorized(Product(unit, DType::kBF16, DType::kF32, false), "product", unit);
  auto loaded = BuildProgram(p);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const auto bf16 = [](float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return static_cast<uint16_t>(bits >> 16);
  };
  auto x = Random<float>(2 * 6, 1), y = Random<float>(32 * 6, 2);
  Array<uint16_t> a(2 * 6), b(32 * 6);
  for (size_t i = 0; i < x.size(); ++i) a[i] = bf16(x[i]);
  for (size_t i = 0; i < y.size(); ++i) b[i] = bf16(y[i]);
  Array<float> c(2 * 32, 99.f);
  ASSERT_EQ(CallKernel(*loaded, "product", {a.data(), b.data(), c.data()}), 0);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 32; ++j) {
      float sum = 0;
      for (int k = 0; k < 6; ++k) sum += x[i * 6 + k] * y[j * 6 + k];
      ASSERT_EQ(c[i * 32 + j], sum) << i << " " << j;
    }
  }
}

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

// Tiles have four rows, and seven rows do not fill the last tile.
TEST(LowerTensorize, CallsOfIncompleteTilesAreInstructionsToo) {
  const IntrinsicFamily unit = FamilyOf("vnni.8x4", 1, 8, 4);
  const Program p = TiledRows(Product(unit, DType::kI8, DType::kI32, true, 7), unit, 4);
  ExpectProductOfBytes<uint8_t>(p, 7);
  const auto code = CodeFor(p, Named(kX86, "alderlake").value(), Stage::kAssembly);
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_TRUE(absl::StrContains(*code, "vpdpbusd"));
  EXPECT_FALSE(absl::StrContains(*code, "vpmulld"));  // the description's loops would multiply by it
}

struct Instruction {
  const char *unit, *triple, *cpu, *text;
  DType a, c;
  bool unsigned_a;
};

Program ProductOf(const Instruction& i, int64_t sums, int64_t products) {
  const IntrinsicFamily unit = FamilyOf(i.unit, 1, sums, products);
  return Tensorized(Product(unit, i.a, i.c, i.unsigned_a), "product", unit);
}

TEST(LowerTensorize, CallsAreInstructionsOfMachinesThatHaveThem) {
  const Instruction all[] = {
      {"vnni.16x4", kX86, "icelake-server", "vpdpbusd", DType::kI8, DType::kI32, true},
      {"vnni.8x4", kX86, "alderlake", "{vex}\tvpdpbusd", DType::kI8, DType::kI32, true},
      {"vnni.8x4", kX86, "x86-64-v3", "", DType::kI8, DType::kI32, true},
      {"vnni.s8.16x4", kX86, "icelake-server", "vpdpbusd", DType::kI8, DType::kI32, false},
      {"vnni.s8.8x4", kX86, "alderlake", "{vex}\tvpdpbusd", DType::kI8, DType::kI32, false},
      {"bf16.16x2", kX86, "sapphirerapids", "vdpbf16ps", DType::kBF16, DType::kF32, false},
      {"bf16.16x2", kX86, "icelake-server", "", DType::kBF16, DType::kF32, false},
      {"f16.16x2", kX86, "diamondrapids", "vdpphps", DType::kF16, DType::kF32, false},
      {"f16.16x2", kX86, "icelake-server", "", DType::kF16, DType::kF32, false},
      {"sdot.4x4", kArm, "neoverse-n1", "sdot\t", DType::kI8, DType::kI32, false},
      {"sdot.4x4", kArm, "generic", "", DType::kI8, DType::kI32, false},
      {"usdot.4x4", kArm, "neoverse-v1", "usdot\t", DType::kI8, DType::kI32, true}};
  for (const Instruction& i : all) {
    SCOPED_TRACE(absl::StrCat(i.unit, " for ", i.cpu));
    const std::string unit = i.unit;
    const bool pairs = SizeOf(i.a) == 2;
    const int64_t sums = pairs ? 16 : unit[0] != 'v' ? 4 : absl::EndsWith(unit, "8x4") ? 8 : 16;
    const auto code =
        CodeFor(ProductOf(i, sums, pairs ? 2 : 4), Named(i.triple, i.cpu).value(), Stage::kAssembly);
    ASSERT_TRUE(code.ok()) << code.status();
    for (const char* dot : {"vpdpbusd", "vdpbf16ps", "vdpphps", "dot\t"})
      EXPECT_EQ(absl::StrContains(*code, dot), absl::StrContains(i.text, dot)) << dot;
    EXPECT_TRUE(absl::StrContains(*code, i.text));
  }
}

// C code that checks two rows by 16 columns of small whole numbers, and a function in place of the
// instruction.
constexpr char kPairs[] = R"(
void c_dot(float* c, const _Float16* a, const _Float16* b) {
  for (int i = 0; i < 16; ++i) c[i] += (float)a[2 * i] * (float)b[2 * i] + (float)a[2 * i + 1] * (float)b[2 * i + 1];
}
int product(void*, void*, void*);
static _Alignas(64) _Float16 a[2 * 6], b[32 * 6]; static _Alignas(64) float c[2 * 32];
int main(void) {
  for (int i = 0; i < 2 * 6; ++i) a[i] = (_Float16)(i * 37 % 64 - 31);
  for (int i = 0; i < 32 * 6; ++i) b[i] = (_Float16)(i * 91 % 64 - 29);
  if (product(a, b, c) != 0) return 1;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 32; ++j) {
      float sum = 0;
      for (int k = 0; k < 6; ++k) sum += (float)a[i * 6 + k] * (float)b[j * 6 + k];
      if (c[i * 32 + j] != sum) return 2;
    }
  return 0;
}
)";
constexpr char kDotOfPairs[] = R"(
declare void @c_dot(ptr, ptr, ptr)
define internal <16 x float> @dot(<16 x float> %c, <32 x half> %a, <32 x half> %b) {
  %x = alloca <32 x half>
  %y = alloca <32 x half>
  %z = alloca <16 x float>
  store <32 x half> %a, ptr %x
  store <32 x half> %b, ptr %y
  store <16 x float> %c, ptr %z
  call void @c_dot(ptr %z, ptr %x, ptr %y)
  %sums = load <16 x float>, ptr %z
  ret <16 x float> %sums
}
)";

TEST(LowerTensorize, PairsOfF16AreMultipliedWhereAFunctionStandsForTheInstruction) {
  if (!absl::StrContains(Host().triple, "x86_64") || Host().vector_bytes < 32)
    GTEST_SKIP() << "no x86-64 with AVX2";
  const IntrinsicFamily unit = FamilyOf("f16.16x2", 1, 16, 2);
  const Program p = Tensorized(Product(unit, DType::kF16, DType::kF32, false), "product", unit);
  const auto code = CodeFor(p, Named(kX86, "x86-64-v3", "+avx10.2").value(), Stage::kOptimized);
  ASSERT_TRUE(code.ok()) << code.status();
  ASSERT_TRUE(absl::StrContains(*code, "call <16 x float> @llvm.x86.avx10.vdpphps.512"));
  std::string ir;
  for (const absl::string_view line : absl::StrSplit(*code, '\n'))
    if (!absl::StrContains(line, "declare") || !absl::StrContains(line, "vdpphps"))
      absl::StrAppend(&ir, line, "\n");
  ir = std::regex_replace(ir, std::regex("\"target-features\"=\"[^\"]*\""), "");
  const TemporaryFolder folder;
  folder.Write("product.ll",
               absl::StrCat(absl::StrReplaceAll(ir, {{"@llvm.x86.avx10.vdpphps.512", "@dot"}}), kDotOfPairs));
  folder.Write("main.c", kPairs);
  const std::string in = absl::StrCat("cd ", folder.path(), " && ");
  ASSERT_EQ(std::system(absl::StrCat(in, KILN_CXX_COMPILER,
                                     " -O1 -march=x86-64-v3 -fno-strict-aliasing -nostdlib++ -x c main.c -x "
                                     "ir product.ll -o main")
                            .c_str()),
            0);
  EXPECT_EQ(std::system(absl::StrCat(in, "./main").c_str()), 0);
}

// C code that checks the sums for bytes from -128 to 127 and from 0 to 255.
constexpr char kCheck[] = R"(
int product(void*, void*, void*);
static _Alignas(64) A a[2 * 12]; static _Alignas(64) signed char b[8 * 12]; static _Alignas(64) int c[2 * 8];
int main(void) {
  for (int i = 0; i < 2 * 12; ++i) a[i] = (A)(i * 37 + 200);
  for (int i = 0; i < 8 * 12; ++i) b[i] = (signed char)(i * 91 + 128);
  if (product(a, b, c) != 0) return 1;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 8; ++j) {
      int sum = 0;
      for (int k = 0; k < 12; ++k) sum += a[i * 12 + k] * b[j * 12 + k];
      if (c[i * 8 + j] != sum) return 2;
    }
  return 0;
}
)";

TEST(LowerTensorize, InstructionsOfArmComputeTheProductUnderQemu) {
  for (const Instruction& i :
       {Instruction{"sdot.4x4", kArm, "neoverse-n1", "signed char", DType::kI8, DType::kI32, false},
        Instruction{"usdot.4x4", kArm, "neoverse-v1", "unsigned char", DType::kI8, DType::kI32, true}}) {
    const TemporaryFolder folder;
    const auto code = CodeFor(ProductOf(i, 4, 4), Named(i.triple, i.cpu).value());
    ASSERT_TRUE(code.ok()) << code.status();
    folder.Write("product.o", *code);
    folder.Write("main.c", absl::StrCat("typedef ", i.text, " A;", kCheck));
    const std::string in = absl::StrCat("cd ", folder.path(), " && ");
    ASSERT_EQ(std::system(
                  absl::StrCat(in, KILN_CXX_COMPILER,
                               " --target=aarch64-linux-gnu -fuse-ld=lld -static -nostdlib++ -x c main.c -x "
                               "none product.o -o main")
                      .c_str()),
              0);
    EXPECT_EQ(std::system(absl::StrCat(in, "qemu-aarch64 -cpu max ./main").c_str()), 0) << i.unit;
  }
}

}  // namespace
}  // namespace kiln
