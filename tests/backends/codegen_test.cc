#include "backends/codegen/codegen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <sstream>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "testing/compiled/loaded.h"

namespace kiln {
namespace {

using testing::HasSubstr;
using testing::Not;

const char kScale[] = R"(
  func.func @scale(%x: memref<64xf32>, %y: memref<64xf32>) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %two = arith.constant dense<2.0> : vector<8xf32>
    scf.for %i = %c0 to %c64 step %c8 {
      %v = vector.load %x[%i] : memref<64xf32>, vector<8xf32>
      %w = arith.mulf %v, %two : vector<8xf32>
      vector.store %w, %y[%i] : memref<64xf32>, vector<8xf32>
    }
    return
  })";

CodegenOptions Entry(const std::string& name) { return {.entries = {{.name = name, .noalias = true}}}; }

TEST(Codegen, AVectorKernelRunsAndReturnsZero) {
  const auto code = Build(kScale, Entry("scale"));
  ASSERT_TRUE(code.ok()) << code.status();
  alignas(64) float x[64], y[64];
  for (int i = 0; i < 64; ++i) x[i] = i;
  ASSERT_EQ(code->Get<int(float*, float*)>("scale")(x, y), 0);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(y[i], 2 * i);
}

TEST(Codegen, AModuleThatDoesNotVerifyIsAnError) {
  auto module = Parse(R"("func.func"() <{function_type = (f32) -> (), sym_name = "f"}> ({
    ^bb0(%x: f32): %y = "arith.addi"(%x, %x) : (f32, f32) -> f32
      "func.return"() : () -> () }) : () -> ())");
  ASSERT_TRUE(module);
  const auto object = HostCodegen().Compile(*module, Entry("f"));
  EXPECT_EQ(object.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(object.status().message()),
              HasSubstr("'arith.addi' op operand #0 must be signless-integer-like"));
}

TEST(Codegen, AnOperationWithoutALoweringIsNamed) {
  auto module = Parse(
      "func.func @f(%x: memref<2x2xf32>, %y: memref<2x2xf32>) { linalg.copy ins(%x : memref<2x2xf32>) "
      "outs(%y : memref<2x2xf32>)\n return }");
  ASSERT_TRUE(module);
  const auto object = HostCodegen().Compile(*module, Entry("f"));
  EXPECT_EQ(object.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(object.status().message()), HasSubstr("linalg.copy"));
}

TEST(Codegen, AMissingEntryPointIsAnError) {
  auto module = Parse(kScale);
  EXPECT_EQ(HostCodegen().Compile(*module, Entry("main")).status().message(),
            "the module does not define the entry point \"main\"");
}

TEST(Codegen, PrintsEveryPassAndStageAndSaysWhichChangedNothing) {
  std::ostringstream out;
  CodegenOptions options = Entry("scale");
  options.print_after_all = &out;
  auto module =
      Parse("func.func @scale(%x: memref<4xf32>) -> i32 { %c = arith.constant 0 : i32\n return %c : i32 }");
  ASSERT_TRUE(HostCodegen().Compile(*module, options).ok());
  EXPECT_THAT(out.str(), HasSubstr("// ----- mlir -----\nmodule {"));
  EXPECT_THAT(out.str(),
              HasSubstr("// ----- narrow-floats -----\n(unchanged)\n// ----- math -----\n(unchanged)"));
  EXPECT_THAT(out.str(),
              HasSubstr("// ----- scf-to-cf -----\n(unchanged)\n// ----- convert-to-llvm -----\nmodule {"));
  EXPECT_THAT(out.str(), HasSubstr("llvm.func @scale"));
  EXPECT_THAT(out.str(), HasSubstr("// ----- llvm -----\n"));
  EXPECT_THAT(
      out.str(),
      HasSubstr("// ----- separate-const-offset-from-gep -----\n(unchanged)\n// ----- early-cse -----\n"));
  EXPECT_THAT(out.str(), HasSubstr("// ----- optimized -----\n(unchanged)"));
  EXPECT_THAT(out.str(), HasSubstr("// ----- asm -----\n"));
}

std::string Text(const std::string& mlir, const CodegenOptions& options, Stage stage,
                 Codegen& codegen = HostCodegen()) {
  auto module = Parse(mlir);
  const auto text = codegen.Text(*module, options, stage);
  return text.ok() ? *text : text.status().ToString();
}

TEST(Codegen, PromisesOnlyWhatTheEntryPointSays) {
  CodegenOptions options = Entry("scale");
  EXPECT_THAT(Text(kScale, options, Stage::kLlvm), HasSubstr("@scale(ptr noalias align 64"));
  options.entries[0].noalias = false;
  options.entries[0].alignment = 1;
  EXPECT_THAT(Text(kScale, options, Stage::kLlvm), HasSubstr("@scale(ptr %0, ptr %1)"));
}

TEST(Codegen, LanesOfBf16AreStoredOneByOne) {
  const auto code = Build(R"(
    func.func @f(%x: memref<4xbf16>, %y: memref<8xbf16>) {
      %c0 = arith.constant 0 : index
      %c5 = arith.constant 5 : index
      %v = vector.load %x[%c0] : memref<4xbf16>, vector<4xbf16>
      %a = vector.extract %v[0] : bf16 from vector<4xbf16>
      %b = vector.extract %v[3] : bf16 from vector<4xbf16>
      memref.store %a, %y[%c5] : memref<8xbf16>
      memref.store %b, %y[%c0] : memref<8xbf16>
      return
    })",
                          Entry("f"));
  ASSERT_TRUE(code.ok()) << code.status();
  alignas(64) uint16_t x[] = {11, 22, 33, 44}, y[8] = {};
  code->Get<int(uint16_t*, uint16_t*)>("f")(x, y);
  EXPECT_THAT(y, testing::ElementsAre(44, 0, 0, 0, 0, 11, 0, 0));
}

// Compiles a loop y[i] = x[3*i + o] + x[3*i + o + 1]. Tests that its code increments one pointer for both loads and one
// for the store, instead of computing addresses from i, and that the results are right.
TEST(Codegen, AddressesOfInnermostLoopsStep) {
  const char text[] = R"(
    func.func @f(%x: memref<999xf32>, %y: memref<100xf32>, %o: memref<1xindex>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %n = arith.constant 100 : index
      %at = memref.load %o[%c0] : memref<1xindex>
      scf.for %i = %c0 to %n step %c1 {
        %j = arith.muli %i, %c3 : index
        %k = arith.addi %at, %j : index
        %l = arith.addi %k, %c1 : index
        %v = memref.load %x[%k] : memref<999xf32>
        %w = memref.load %x[%l] : memref<999xf32>
        %s = arith.addf %v, %w : f32
        memref.store %s, %y[%i] : memref<100xf32>
      }
      return
    })";
  const std::string ours = Text(text, Entry("f"), Stage::kOptimized);
  const std::vector<std::string> parts = absl::StrSplit(ours, "= phi ptr");
  EXPECT_EQ(parts.size(), 1u + 2) << ours;
  const auto code = Build(text, Entry("f"));
  ASSERT_TRUE(code.ok()) << code.status();
  alignas(64) float x[999], y[100];
  alignas(64) int64_t offset[1] = {7};
  for (int i = 0; i < 999; ++i) x[i] = static_cast<float>(i * i % 97);
  code->Get<int(float*, float*, int64_t*)>("f")(x, y, offset);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(y[i], x[3 * i + 7] + x[3 * i + 8]) << i;
}

TEST(Codegen, CompilesForAnotherMachine) {
  const auto arm = Named("aarch64-unknown-linux-gnu", "neoverse-n1").value();
  EXPECT_EQ(arm.vector_registers, 32);
  const auto codegen = Codegen::Create(arm).value();
  EXPECT_THAT(Text(kScale, Entry("scale"), Stage::kAssembly, *codegen), HasSubstr("fadd\tv0.4s"));
  const auto wide = Codegen::Create(Named("x86_64-pc-linux-gnu", "icelake-server").value()).value();
  EXPECT_EQ(wide->machine().vector_bytes, 64);
  EXPECT_FALSE(Named("x86_64-pc-linux-gnu", "no-such-cpu").ok());
  EXPECT_FALSE(Named("no-such-machine", "").ok());
}

TEST(Codegen, DescribesTheHost) {
  EXPECT_GE(Host().cores, 1);
  EXPECT_GT(Host().l1_bytes, 0);
  EXPECT_GE(Host().vector_bytes, 16);
  EXPECT_THAT(Host().fingerprint, HasSubstr(Host().cpu));
}

// Returns MLIR text of a function that converts 65536 inputs from one type to another by the operation `op`: to y in
// vectors of eight, and to z one by one.
std::string Convert(const std::string& op, const std::string& from, const std::string& to) {
  return absl::StrFormat(R"(
    func.func @f(%%x: memref<65536x%2$s>, %%y: memref<65536x%3$s>, %%z: memref<65536x%3$s>) {
      %%c0 = arith.constant 0 : index
      %%c8 = arith.constant 8 : index
      %%c1 = arith.constant 1 : index
      %%n = arith.constant 65536 : index
      scf.for %%i = %%c0 to %%n step %%c8 {
        %%v = vector.load %%x[%%i] : memref<65536x%2$s>, vector<8x%2$s>
        %%w = %1$s %%v : vector<8x%2$s> to vector<8x%3$s>
        vector.store %%w, %%y[%%i] : memref<65536x%3$s>, vector<8x%3$s>
      }
      scf.for %%i = %%c0 to %%n step %%c1 {
        %%v = memref.load %%x[%%i] : memref<65536x%2$s>
        %%w = %1$s %%v : %2$s to %3$s
        memref.store %%w, %%z[%%i] : memref<65536x%3$s>
      }
      return
    })",
                         op, from, to);
}

uint16_t Bf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return std::isnan(x) ? (bits >> 16) | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

template <typename From, typename To, typename Expected>
void CheckConversion(Codegen& codegen, const std::string& text, const std::vector<From>& x,
                     Expected expected) {
  const auto code = Build(text, {.entries = {{.name = "f", .alignment = 1}}}, codegen);
  ASSERT_TRUE(code.ok()) << code.status();
  std::vector<To> y(x.size()), z(x.size());
  ASSERT_EQ(code->Get<int(const From*, To*, To*)>("f")(x.data(), y.data(), z.data()), 0);
  for (size_t i = 0; i < x.size(); ++i) {
    const To want = expected(x[i]);
    ASSERT_EQ(y[i], want) << "element " << i;
    ASSERT_EQ(z[i], want) << "element " << i;
  }
}

TEST(Codegen, NarrowFloatsConvertExactlyWithAndWithoutHardware) {
  std::vector<uint16_t> halves(65536);
  std::vector<uint32_t> floats(65536);  // every exponent, both signs, values at and around ties
  for (uint32_t i = 0; i < 65536; ++i) {
    halves[i] = i;
    floats[i] = i << 16 | (i % 5 == 0   ? 0x1000
                           : i % 5 == 1 ? 0x8000
                           : i % 5 == 2 ? 0x0fff
                                        : i * 40503 & 0xffff);
  }
  const auto is_nan16 = [](uint16_t h) { return (h & 0x7fff) > 0x7c00; };
  const auto quiet = Codegen::Create(Named("x86_64-pc-linux-gnu", "x86-64-v2").value()).value();
  ASSERT_FALSE(quiet->machine().half);
  for (Codegen* codegen : {&HostCodegen(), quiet.get()}) {
    CheckConversion<uint16_t, uint32_t>(
        *codegen, Convert("arith.extf", "f16", "f32"), halves, [&](uint16_t h) {
          if (is_nan16(h)) return (h & 0x8000u) << 16 | 0x7fc00000u | (h & 0x3ffu) << 13;
          return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<_Float16>(h)));
        });
    CheckConversion<uint32_t, uint16_t>(
        *codegen, Convert("arith.truncf", "f32", "f16"), floats, [&](uint32_t f) -> uint16_t {
          if (std::isnan(std::bit_cast<float>(f))) return (f >> 16 & 0x8000) | 0x7e00 | (f >> 13 & 0x3ff);
          return std::bit_cast<uint16_t>(static_cast<_Float16>(std::bit_cast<float>(f)));
        });
    CheckConversion<uint16_t, uint32_t>(*codegen, Convert("arith.extf", "bf16", "f32"), halves,
                                        [](uint16_t h) { return uint32_t{h} << 16; });
    CheckConversion<uint32_t, uint16_t>(*codegen, Convert("arith.truncf", "f32", "bf16"), floats,
                                        [](uint32_t f) { return Bf16(std::bit_cast<float>(f)); });
    std::vector<int32_t> integers(65536);
    for (int i = 0; i < 65536; ++i) integers[i] = (i - 32768) % 2048;
    CheckConversion<int32_t, uint16_t>(
        *codegen, Convert("arith.sitofp", "i32", "f16"), integers,
        [](int32_t i) { return std::bit_cast<uint16_t>(static_cast<_Float16>(i)); });
    std::vector<uint16_t> integral(65536);
    for (int i = 0; i < 65536; ++i) integral[i] = std::bit_cast<uint16_t>(static_cast<_Float16>(integers[i]));
    CheckConversion<uint16_t, int32_t>(
        *codegen, Convert("arith.fptosi", "f16", "i32"), integral,
        [](uint16_t h) { return static_cast<int32_t>(std::bit_cast<_Float16>(h)); });
  }
}

TEST(Codegen, ArithmeticOnNarrowFloatsRoundsEachResult) {
  for (const std::string type : {"f16", "bf16"}) {
    const std::string text = absl::StrFormat(R"(
      func.func @f(%%x: memref<256x%1$s>, %%y: memref<256x%1$s>, %%sum: memref<1x%1$s>) {
        %%c0 = arith.constant 0 : index
        %%c16 = arith.constant 16 : index
        %%n = arith.constant 256 : index
        %%one = arith.constant dense<1.5> : vector<16x%1$s>
        %%zero = arith.constant 0.0 : %1$s
        %%total = scf.for %%i = %%c0 to %%n step %%c16 iter_args(%%s = %%zero) -> %1$s {
          %%v = vector.load %%x[%%i] : memref<256x%1$s>, vector<16x%1$s>
          %%p = arith.mulf %%v, %%one : vector<16x%1$s>
          %%q = arith.subf %%p, %%v : vector<16x%1$s>
          %%big = arith.cmpf ogt, %%q, %%one : vector<16x%1$s>
          %%r = arith.select %%big, %%one, %%q : vector<16xi1>, vector<16x%1$s>
          vector.store %%r, %%y[%%i] : memref<256x%1$s>, vector<16x%1$s>
          %%m = vector.reduction <maximumf>, %%r : vector<16x%1$s> into %1$s
          %%t = arith.maximumf %%s, %%m : %1$s
          scf.yield %%t : %1$s
        }
        memref.store %%total, %%sum[%%c0] : memref<1x%1$s>
        return
      })",
                                             type);
    const auto code = Build(text, Entry("f"));
    ASSERT_TRUE(code.ok()) << code.status();
    const auto narrow = [&](float x) {
      return type == "bf16" ? Bf16(x) : std::bit_cast<uint16_t>(static_cast<_Float16>(x));
    };
    const auto wide = [&](uint16_t h) {
      return type == "bf16" ? std::bit_cast<float>(uint32_t{h} << 16)
                            : static_cast<float>(std::bit_cast<_Float16>(h));
    };
    alignas(64) uint16_t x[256], y[256], sum[1];
    for (int i = 0; i < 256; ++i) x[i] = narrow(i / 77.0f);
    ASSERT_EQ(code->Get<int(void*, void*, void*)>("f")(x, y, sum), 0);
    for (int i = 0; i < 256; ++i) {
      const float v = wide(x[i]);
      const float q = wide(narrow(wide(narrow(v * 1.5f)) - v));
      ASSERT_EQ(y[i], narrow(q > 1.5f ? 1.5f : q)) << type << " " << i;
    }
    EXPECT_EQ(wide(sum[0]), 1.5f);
  }
}

TEST(Codegen, ScalarLoopsWithO3AreVectorized) {
  CodegenOptions options = Entry("f");
  options.pipeline = CodegenOptions::Pipeline::kO3;
  const char text[] = R"(
    func.func @f(%x: memref<4096xf32>, %y: memref<4096xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 4096 : index
      scf.for %i = %c0 to %n step %c1 {
        %v = memref.load %x[%i] : memref<4096xf32>
        %w = arith.addf %v, %v : f32
        memref.store %w, %y[%i] : memref<4096xf32>
      }
      return
    })";
  EXPECT_THAT(Text(text, options, Stage::kOptimized), HasSubstr("fadd <"));
}

TEST(Codegen, ABodyIsCalledThroughAPointer) {
  const std::string text = R"(
    !buffer = !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    llvm.func @kiln_parallel_for(%n: i64, %body: !llvm.ptr, %args: !llvm.ptr) {
      %zero = llvm.mlir.constant(0 : i64) : i64
      llvm.call %body(%zero, %n, %args) : !llvm.ptr, (i64, i64, !llvm.ptr) -> ()
      llvm.return
    }
    func.func private @tile(%lo: index, %hi: index,
                            %x: memref<64xf32> {llvm.noalias, llvm.align = 64 : i64}) {
      %one = arith.constant 1 : index
      %v = arith.constant 3.0 : f32
      scf.for %i = %lo to %hi step %one { memref.store %v, %x[%i] : memref<64xf32> }
      return
    }
    func.func private @body(%lo: i64, %hi: i64, %args: !llvm.ptr) {
      %p = llvm.load %args : !llvm.ptr -> !llvm.ptr
      %s = llvm.mlir.poison : !buffer
      %t = llvm.insertvalue %p, %s[1] : !buffer
      %x = builtin.unrealized_conversion_cast %t : !buffer to memref<64xf32>
      %l = arith.index_cast %lo : i64 to index
      %h = arith.index_cast %hi : i64 to index
      func.call @tile(%l, %h, %x) : (index, index, memref<64xf32>) -> ()
      return
    }
    func.func @fill(%x: memref<64xf32>) {
      %n = arith.constant 64 : i64
      %one = llvm.mlir.constant(1 : i64) : i64
      %args = llvm.alloca %one x !llvm.ptr : (i64) -> !llvm.ptr
      %s = builtin.unrealized_conversion_cast %x : memref<64xf32> to !buffer
      %p = llvm.extractvalue %s[1] : !buffer
      llvm.store %p, %args : !llvm.ptr, !llvm.ptr
      %f = func.constant @body : (i64, i64, !llvm.ptr) -> ()
      %g = builtin.unrealized_conversion_cast %f : (i64, i64, !llvm.ptr) -> () to !llvm.ptr
      llvm.call @kiln_parallel_for(%n, %g, %args) : (i64, !llvm.ptr, !llvm.ptr) -> ()
      return
    })";
  const auto code = Build(text, Entry("fill"));
  ASSERT_TRUE(code.ok()) << code.status();
  alignas(64) float x[64] = {};
  ASSERT_EQ(code->Get<int(float*)>("fill")(x), 0);
  for (const float value : x) EXPECT_EQ(value, 3.0f);
}

}  // namespace
}  // namespace kiln
