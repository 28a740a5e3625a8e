// Tests the default space of CPUs: on small programs, random decisions of every sketch apply, pass Verify, and compute
// the same as the original. Also tests which intrinsics the space offers for some targets.
#include <gtest/gtest.h>

#include "lang/program/builder.h"
#include "lang/program/layout.h"
#include "lang/reference/interpreter.h"
#include "lang/text/text.h"
#include "modules/default_modules.h"
#include "testing/convolution.h"
#include "testing/matmul.h"
#include "testing/module_cases.h"
#include "tests/modules/products.h"
#include "trace/enumerate.h"
#include "trace/replay.h"

namespace kiln {
namespace {

Program MatmulRelu() {
  Builder b("matmul");
  const Id x = b.Input("A", DType::kF64, {12, 16}), y = b.Input("B", DType::kF64, {16, 24});
  const Id t = b.Temporary("T", DType::kF64, {12, 24}), z = b.Output("C", DType::kF64, {12, 24});
  const IndexSum i = Builder::Iter(0), j = Builder::Iter(1), k = Builder::Iter(2);
  b.Reduce("matmul", {{"i", 12}, {"j", 24}, {"k", 16, IterKind::kReduction}}, Monoid::Kind::kSum, {t, {i, j}},
           b.Mul(b.Load(x, {i, k}), b.Load(y, {k, j})));
  b.Compute("relu", {{"i", 12}, {"j", 24}}, {z, {i, j}},
            b.Make(Op::kMax, DType::kF64, b.Load(t, {i, j}), b.Float(DType::kF64, 0)));
  return b.Finish();
}

template <int64_t channels>
Program PaddedConv() {
  Builder b("conv");
  const Id x = b.Input("X", DType::kF64, {4, 9}), w = b.Input("W", DType::kF64, {channels, 4, 3}),
           y = b.Output("Y", DType::kF64, {channels, 9});
  const Id p = b.Temporary("P", DType::kF64, {4, 11});
  const IndexSum o = Builder::Iter(0), h = Builder::Iter(1), c = Builder::Iter(2), k = Builder::Iter(3);
  const IndexSum shifted = h + IndexSum::Constant(-1);
  b.Compute("pad", {{"c", 4}, {"h", 11}}, {p, {o, h}},
            b.Within({{shifted, 9}}, b.Load(x, {o, shifted}), b.Float(DType::kF64, 0)));
  b.Reduce("conv",
           {{"o", channels}, {"h", 9}, {"c", 4, IterKind::kReduction}, {"k", 3, IterKind::kReduction}},
           Monoid::Kind::kSum, {y, {o, h}}, b.Mul(b.Load(p, {c, h + k}), b.Load(w, {o, c, k})));
  return b.Finish();
}

// Returns small integers as f64 for each input of a program, so that sums are exact in any order.
std::vector<std::string> Inputs(const Program& program) {
  std::vector<std::string> inputs;
  for (const Id id : program.parameters) {
    if (program.buffers[id].role == Role::kOutput) continue;
    std::string bytes(BytesOf(program, id), '\0');
    auto* values = reinterpret_cast<double*>(bytes.data());
    for (size_t i = 0; i < bytes.size() / sizeof(double); ++i)
      values[i] = static_cast<double>((i * 7 + 3) % 11) - 5;
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

class DefaultSpace : public testing::TestWithParam<Program (*)()> {};

TEST_P(DefaultSpace, EverySketchComputesWhatTheOriginalComputes) {
  const Program original = GetParam()();
  const std::vector<std::string> inputs = Inputs(original);
  const auto expected = kiln::Run(original, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto enumeration = Enumerate(CpuSpace, original, Target());
  ASSERT_TRUE(enumeration.ok()) << enumeration.status();
  EXPECT_GE(enumeration->sketches.size(), 6u);
  EXPECT_TRUE(enumeration->dropped.empty()) << enumeration->dropped[0].reason;
  for (const Sketch& sketch : enumeration->sketches) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      RandomDice dice(Engine{seed});
      RandomChooser chooser(dice);
      const auto replayed = Replay(sketch.trace, original, Target(), chooser);
      ASSERT_TRUE(replayed.ok()) << replayed.status();
      ASSERT_TRUE(Verify(replayed->program()).ok())
          << Verify(replayed->program()) << ToString(replayed->program());
      const auto outputs = kiln::Run(replayed->program(), inputs, {.shuffle = seed + 1});
      ASSERT_TRUE(outputs.ok()) << outputs.status() << ToString(replayed->program());
      ASSERT_EQ(*outputs, *expected) << "seed " << seed << "\n" << ToString(replayed->program());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, DefaultSpace,
                         testing::Values(&MatmulRelu, &PaddedConv<6>, &PaddedConv<8>));

Target Vnni() {
  Target target;
  target.features = "+avx2,+avxvnni";
  return target;
}

TEST(DefaultSpaces, HaveIntrinsicsOfMatrixUnitsAndOfArm) {
  Target target;
  target.features = "+amx-int8";
  EXPECT_NE(SketchesText("cpu", Bytes(6, 32, 16), target).find("amx.u8s8"), std::string::npos);
  target.features = "+i8mm";
  target.vector_bytes = 16;
  EXPECT_NE(SketchesText("cpu", Bytes(6, 32, 16), target).find("usdot.4x4"), std::string::npos);
}

TEST(DefaultSpaces, StandBehindAModuleThatSchedules) {
  const Program conv = Convolution({.size = 4, .channels = 2, .results = 8});
  for (const std::string lemmas : {"", "skip-zeros | drop-padded-terms | "}) {
    const std::string space = lemmas + "each-block(multi-level-tiling) | cpu",
                      text = SketchesText(space, conv);
    EXPECT_NE(text.find("@multi-level-tiling/conv"), std::string::npos) << text;
    EXPECT_EQ(text.find("dropped"), std::string::npos) << text;
    EXPECT_EQ(text.find("assume-finite") == std::string::npos, lemmas.empty()) << text;
    ExpectSketchesCompute(space, conv, Target(), 1);
  }
}

TEST(DefaultSpaces, HaveIntrinsicsForF16) {
  Target target;
  target.vector_bytes = 64;
  target.features = "+avx10.2";
  EXPECT_NE(SketchesText("cpu", Gram(DType::kF16, 20, 8), target).find("f16.16x2"), std::string::npos);
  target.features = "+amx-fp16";
  EXPECT_NE(SketchesText("cpu", Gram(DType::kF16, 20, 8), target).find("amx.f16"), std::string::npos);
  target.features = "";
  EXPECT_EQ(SketchesText("cpu", Gram(DType::kF16, 20, 8), target).find("tensorize"), std::string::npos);
}

TEST(DefaultSpaces, OfVnniHaveIntrinsicsForBytesAlone) {
  EXPECT_NE(SketchesText("cpu", Bytes(6, 32, 16), Vnni()).find("vnni.8x4"), std::string::npos);
  EXPECT_EQ(SketchesText("cpu", Matmul(12, 32, 8), Vnni()).find("tensorize"), std::string::npos);
}

}  // namespace
}  // namespace kiln
