// Tests the accuracy of a compiled sigmoid, 1 / (1 + exp(-x)), in vectors of 8 and 16 f32 against libm in double: on
// every 4001st float, infinities, NaN and denormals. Also tests that functions of f64 give the same bits as libm.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "lang/program/builder.h"
#include "testing/compiled/run_program.h"
#include "testing/scheduled.h"
#include "tests/backends/ulp.h"

namespace kiln {
namespace {

constexpr int kCount = 1 << 14;
constexpr uint64_t kStep = 4001;

Program Elementwise(DType type, Id (*body)(Builder& b, DType type, Id x), bool fast, int64_t lanes) {
  Builder b("f");
  const Id x = b.Input("x", type, {kCount}), y = b.Output("y", type, {kCount});
  b.Compute("body", {{"i", kCount}}, {y, {b.Iter(0)}}, body(b, type, b.Load(x, {b.Iter(0)})));
  Schedule s = Scheduled(b.Finish());
  const Block block = s.GetBlock("body");
  s.Vectorize(s.Split(s.GetLoops(block)[0], {kAuto, lanes})[1]);
  if (fast) s.Annotate(block, "fast-math", 1);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

Id Sigmoid(Builder& b, DType type, Id x) {
  const Id one = b.Float(type, 1);
  return b.Make(Op::kDiv, type, one, b.Add(one, b.Make(Op::kExp, type, b.Make(Op::kNeg, type, x))));
}

double Right(double x) { return 1 / (1 + std::exp(-x)); }

// The smallest f32 x for which exp(-x) is finite in f32. Sigmoids near x are denormal; below x, they are 0.
constexpr float kLeast = -88.7228f;

TEST(Sigmoid, IsRightEverywhere) {
  if (!Host().fma) GTEST_SKIP() << "no FMA";
  for (const bool fast : {false, true}) {
    for (const int64_t lanes : {8, 16}) {
      const auto code = BuildProgram(Elementwise(DType::kF32, Sigmoid, fast, lanes));
      ASSERT_TRUE(code.ok()) << code.status();
      Array<float> x(kCount), y(kCount);
      Worst worst;
      for (uint64_t bits = 0; bits < uint64_t{1} << 32;) {
        for (int i = 0; i < kCount; ++i, bits += kStep)
          x[i] = std::bit_cast<float>(static_cast<uint32_t>(bits));
        const float special[] = {0.f,    -0.f,      HUGE_VALF, -HUGE_VALF, NAN,    1e-45f, -1e-45f,
                                 -87.3f, 0x1p-126f, kLeast,    -88.73f,    -104.f, 17.f,   104.f};
        std::copy(std::begin(special), std::end(special), x.data());
        ASSERT_EQ(CallKernel(*code, "f", {x.data(), y.data()}), 0);
        for (int i = 0; i < kCount; ++i) {
          if (x[i] >= kLeast || std::isnan(x[i]))
            worst.See(Right(x[i]), x[i], 0, y[i]);
          else
            ASSERT_TRUE(y[i] == 0 && Right(x[i]) < 0x1p-127) << x[i] << " " << y[i];
        }
      }
      std::printf("%s sigmoid of %d lanes: %.4f ULP at %.9g\n", fast ? "fast" : "accurate",
                  static_cast<int>(lanes), worst.ulp, worst.x);
      EXPECT_LE(worst.ulp, fast ? 4 : 2.5) << "sigmoid(" << worst.x << ") is not " << worst.got;
    }
  }
}

// Tests that compiled exp, log, tanh and erf of f64 vectors give the same bits as the scalar functions of the C
// library.
TEST(VectorMath, FunctionsOfF64AreThoseOfTheLibrary) {
  struct {
    Op op;
    double (*right)(double);
  } const functions[] = {
      {Op::kExp, std::exp}, {Op::kLog, std::log}, {Op::kTanh, std::tanh}, {Op::kErf, std::erf}};
  for (const auto& f : functions) {
    Builder b("f");
    const Id in = b.Input("x", DType::kF64, {64}), out = b.Output("y", DType::kF64, {64});
    b.Compute("body", {{"i", 64}}, {out, {b.Iter(0)}}, b.Make(f.op, DType::kF64, b.Load(in, {b.Iter(0)})));
    Schedule s = Scheduled(b.Finish());
    s.Vectorize(s.Split(s.GetLoops(s.GetBlock("body"))[0], {kAuto, 4})[1]);
    ASSERT_TRUE(s.ok()) << s.status();
    const auto code = BuildProgram(s.program());
    ASSERT_TRUE(code.ok()) << code.status();
    Array<double> x(64), y(64);
    for (int i = 0; i < 64; ++i) x[i] = std::ldexp(1 + i / 64., i / 2 - 20);
    ASSERT_EQ(CallKernel(*code, "f", {x.data(), y.data()}), 0);
    for (int i = 0; i < 64; ++i) EXPECT_EQ(y[i], f.right(x[i])) << static_cast<int>(f.op) << " " << x[i];
  }
}

}  // namespace
}  // namespace kiln
