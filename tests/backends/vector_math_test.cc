// Tests the accuracy of compiled exp, log, tanh, erf, sin, cos, powf and rsqrt on f32 vectors, in their accurate and
// fast versions, against libm in double: over the whole range of floats with infinities, NaN and denormals.
#include "backends/cpu/passes/vector_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "backends/cpu/passes/power_tables.h"
#include "lang/program/builder.h"
#include "testing/compiled/run_program.h"
#include "testing/scheduled.h"
#include "tests/backends/ulp.h"

namespace kiln {
namespace {

constexpr int kCount = 1 << 14;
// The step between the bit patterns of tested operands, from 0 to 2^32: about a million operands of each function. A
// step of 7 tests 600 million, in ten minutes.
constexpr uint64_t kStep = 4001;

using Kernel = int(const float*, const float*, float*);

Loaded BuildKernels(const std::vector<std::string>& ops, const std::string& flags, int lanes = 8) {
  std::string text;
  CodegenOptions options;
  for (const std::string& op : ops) {
    const bool two = op == "powf";
    text += absl::StrReplaceAll(R"(
      func.func @OP(%x: memref<16384xf32>, %y: memref<16384xf32>, %z: memref<16384xf32>) {
        %c0 = arith.constant 0 : index
        %n = arith.constant WHOLE : index
        %s = arith.constant LANES : index
        scf.for %i = %c0 to %n step %s {
          %a = vector.load %x[%i] : memref<16384xf32>, vector<LANESxf32>
          %b = vector.load %y[%i] : memref<16384xf32>, vector<LANESxf32>
          %r = math.OP ARGS FLAGS : vector<LANESxf32>
          vector.store %r, %z[%i] : memref<16384xf32>, vector<LANESxf32>
        }
        return
      })",
                                {{"OP", op},
                                 {"ARGS", two ? "%a, %b" : "%a"},
                                 {"FLAGS", flags},
                                 {"WHOLE", absl::StrCat(kCount / lanes * lanes)},
                                 {"LANES", absl::StrCat(lanes)}});
    options.entries.push_back({.name = op, .noalias = true});
  }
  auto loaded = Build(text, options);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return *std::move(loaded);
}

struct Function {
  const char* name;
  double (*right)(double);
  double accurate, fast;
  double fast_least, fast_most;  // magnitudes where the fast bound holds
};

constexpr double kNormal = 0x1p-126, kPowerUlp = 0.7;
const Function kFunctions[] = {{"exp", std::exp, 0.9, 2.5, 0, HUGE_VAL},
                               {"log", std::log, 1, 1, 0, HUGE_VAL},
                               {"tanh", std::tanh, 0.6, 5, 0, HUGE_VAL},
                               {"erf", std::erf, 5, 5, 0, HUGE_VAL},
                               {"sin", std::sin, 1.6, 1.6, 0, 1e5},
                               {"cos", std::cos, 1.6, 1.6, 0, 1e5},
                               {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1.5, 1.5, 0, HUGE_VAL}};

void CheckAll(bool fast) {
  if (!Host().fma) GTEST_SKIP() << "no FMA";
  std::vector<std::string> names;
  for (const Function& f : kFunctions) names.emplace_back(f.name);
  const Loaded code = BuildKernels(names, fast ? "fastmath<afn>" : "");
  Array<float> x(kCount), y(kCount, 0.f), z(kCount);
  for (const Function& f : kFunctions) {
    auto* kernel = code.Get<Kernel>(f.name);
    Worst worst;
    for (uint64_t bits = 0; bits < uint64_t{1} << 32;) {
      // Fills the array with operands, of which the first ten are special values: zeros, infinities, NaN, the smallest
      // numbers, and numbers near the limits of exp.
      for (int i = 0; i < kCount; ++i, bits += kStep)
        x[i] = std::bit_cast<float>(static_cast<uint32_t>(bits));
      const float special[] = {0.f,    -0.f,    HUGE_VALF, -HUGE_VALF, NAN,
                               1e-45f, -1e-45f, 0x1p-126f, -104.f,     88.73f};
      std::copy(std::begin(special), std::end(special), x.data());
      ASSERT_EQ(kernel(x.data(), y.data(), z.data()), 0);
      for (int i = 0; i < kCount; ++i) {
        const double size = std::fabs(x[i]);
        if (fast && !(size >= f.fast_least && size <= f.fast_most)) continue;
        worst.See(f.right(x[i]), x[i], 0, z[i]);
      }
    }
    EXPECT_LE(worst.ulp, fast ? f.fast : f.accurate) << f.name << "(" << worst.x << ") is not " << worst.got;
    std::printf("%s %s: %.4f ULP at %.9g\n", fast ? "fast" : "accurate", f.name, worst.ulp, worst.x);
  }
}

TEST(VectorMath, AccurateFunctionsAreRightEverywhere) { CheckAll(false); }
TEST(VectorMath, FastFunctionsAreRightWhereTheySaySo) { CheckAll(true); }

TEST(VectorMath, PowersAreRightForAllPairsOfNumbers) {
  if (!Host().fma) GTEST_SKIP() << "no FMA";
  const Loaded accurate = BuildKernels({"powf"}, ""), fast = BuildKernels({"powf"}, "fastmath<afn>");
  Array<float> x(kCount), y(kCount), z(kCount);
  std::mt19937 random(3);
  Worst worst, worst_fast;
  for (int round = 0; round < 40; ++round) {
    std::uniform_real_distribution<float> near_one(0.5f, 2), exponent(-40, 40);
    for (int i = 0; i < kCount; ++i) {
      // Draws a base and an exponent. Of four vectors of eight, one has arbitrary bits, one results that overflow, and
      // two usual numbers.
      const bool any = i / 8 % 4 == 0;
      x[i] = any ? std::bit_cast<float>(static_cast<uint32_t>(random()))
                 : std::exp2(exponent(random)) * near_one(random);
      y[i] = any ? std::bit_cast<float>(static_cast<uint32_t>(random()))
                 : exponent(random) / (i / 8 % 4 == 1 ? 1 : 16);
    }
    const float odd[] = {0, -0.f, 1, -1, 2, -3, 0.5f, HUGE_VALF, -HUGE_VALF, NAN, 1e-45f, 3e38f};
    for (int i = 0; i < 144; ++i) x[i] = odd[i / 12], y[i] = odd[i % 12];
    accurate.Get<Kernel>("powf")(x.data(), y.data(), z.data());
    for (int i = 0; i < kCount; ++i) worst.See(std::pow(double{x[i]}, double{y[i]}), x[i], y[i], z[i]);
    fast.Get<Kernel>("powf")(x.data(), y.data(), z.data());
    for (int i = 0; i < kCount; ++i) {
      const double want = std::pow(double{x[i]}, double{y[i]});
      if (x[i] >= kNormal && x[i] < HUGE_VALF && std::isfinite(y[i]) && want > kNormal && want < 0x1p127)
        worst_fast.See(want, x[i], y[i], z[i]);
    }
  }
  EXPECT_LE(worst.ulp, kPowerUlp) << "powf(" << worst.x << ", " << worst.y << ") is not " << worst.got;
  EXPECT_LE(worst_fast.ulp, 200) << "powf(" << worst_fast.x << ", " << worst_fast.y << ")";
  std::printf("accurate powf: %.4f ULP, fast powf: %.1f ULP\n", worst.ulp, worst_fast.ulp);
}

// Tests powf with bases of many mantissas, half of them close to 1, and exponents for which the results are close to
// the largest or smallest floats, where errors of the logarithm matter most.
TEST(VectorMath, PowersOfEveryMantissaAreRight) {
  if (!Host().fma) GTEST_SKIP() << "no FMA";
  Array<float> x(kCount), y(kCount), z(kCount);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> largest(90, 127.5);
  std::uniform_int_distribution<int> exponent(-126, 126);
  for (const int lanes : {4, 8, 12, 16, 24, 32, 64}) {
    const Loaded code = BuildKernels({"powf"}, "", lanes);
    const int whole = kCount / lanes * lanes;
    Worst worst;
    for (int mantissa = 0; mantissa < 1 << 23; mantissa += lanes == 32 ? 0 : 37 * kCount) {
      for (int i = 0; i < whole; ++i, ++mantissa) {
        const auto in = std::bit_cast<float>((127 << 23) | (mantissa & 0x7fffff));  // from 1 to 2
        x[i] = i / 64 % 2 == 0 ? std::ldexp(in, exponent(random)) : in > 1.5f ? in / 2 : in;
        const double log = std::log2(double{x[i]});
        y[i] = static_cast<float>((random() % 2 ? 1 : -1) * largest(random) / (log == 0 ? 1 : log));
      }
      code.Get<Kernel>("powf")(x.data(), y.data(), z.data());
      for (int i = 0; i < whole; ++i) worst.See(std::pow(double{x[i]}, double{y[i]}), x[i], y[i], z[i]);
    }
    EXPECT_LE(worst.ulp, kPowerUlp) << lanes << " lanes: powf(" << worst.x << ", " << worst.y << ")";
    std::printf("powf of %d lanes: %.4f ULP\n", lanes, worst.ulp);
  }
}

TEST(VectorMath, PowersAreRightWhicheverLaneIsSpecial) {
  if (!Host().fma) GTEST_SKIP() << "no FMA";
  const float bases[] = {0, -0.f, -2, 1e-45f, 0x1p-126f, 3.4e38f, HUGE_VALF, -HUGE_VALF, NAN, 2, 1};
  const float exponents[] = {0, 1, -3, 0.5f, 128, -127, -150, 1e38f, -1e38f, HUGE_VALF, -HUGE_VALF, NAN};
  for (const int lanes : {2, 8, 12, 16, 24, 32, 64}) {
    const Loaded code = BuildKernels({"powf"}, "", lanes);
    Array<float> x(kCount, 3.f), y(kCount, 0.75f), z(kCount);
    Worst worst;
    for (const float base : bases) {
      for (const float exponent : exponents) {
        for (int vector = 0; vector < lanes; ++vector) {
          const int at = vector * lanes + vector;
          x[at] = base, y[at] = exponent;
        }
        code.Get<Kernel>("powf")(x.data(), y.data(), z.data());
        for (int i = 0; i < lanes * lanes; ++i)
          worst.See(std::pow(double{x[i]}, double{y[i]}), x[i], y[i], z[i]);
      }
    }
    EXPECT_LE(worst.ulp, kPowerUlp) << lanes << " lanes: powf(" << worst.x << ", " << worst.y << ")";
  }
}

TEST(VectorMath, ReducedArgumentsOfPowersAreExact) {
  const PowerTables& tables = PowerTables::Get();
  for (int32_t bits = std::bit_cast<int32_t>(0x1p-4f); bits < std::bit_cast<int32_t>(0x1p-3f); ++bits) {
    const uint32_t above = static_cast<uint32_t>(bits) - PowerTables::kMin;
    const auto z = std::bit_cast<float>(static_cast<uint32_t>(bits) - (above & 0xff800000));
    const double c = tables.inverse[(above >> 18) % 32], r = double{z} * c - 1;  // exact: 48 bits
    ASSERT_TRUE(std::fabs(r) < 0.019 && static_cast<double>(static_cast<float>(r)) == r) << z << " " << c;
  }
}

// Tests exp of vectors with one operand that is far from the others, in each lane: its result is denormal, zero,
// infinite or NaN, or sums inside exp lose their last bits.
TEST(VectorMath, ExpIsRightWhicheverLaneIsFarOut) {
  if (!Host().fma) GTEST_SKIP() << "no FMA";
  for (const int lanes : {2, 8, 12, 16, 24, 32, 64}) {
    const auto code = Build(absl::StrReplaceAll(R"(
      func.func @exp(%x: memref<Nxf32>, %z: memref<Nxf32>) {
        %c0 = arith.constant 0 : index
        %a = vector.load %x[%c0] : memref<Nxf32>, vector<Nxf32>
        %r = math.exp %a : vector<Nxf32>
        vector.store %r, %z[%c0] : memref<Nxf32>, vector<Nxf32>
        return
      })",
                                                {{"N", absl::StrCat(lanes)}}),
                            {.entries = {{.name = "exp", .noalias = true}}});
    ASSERT_TRUE(code.ok()) << code.status();
    for (const float far : {-44.f, -45.f, -87.f, -103.f, -1453635.f, -2907270.f, -8721810.f, -HUGE_VALF, 44.f,
                            45.f, 88.5f, 89.f, 2907270.f, HUGE_VALF, NAN}) {
      for (int out = 0; out < lanes; ++out) {
        Array<float> x(lanes, 0.75f), z(lanes);
        x[out] = far;
        code->Get<int(const float*, float*)>("exp")(x.data(), z.data());
        Worst worst;
        for (int i = 0; i < lanes; ++i) worst.See(std::exp(double{x[i]}), x[i], 0, z[i]);
        EXPECT_LE(worst.ulp, 0.9) << lanes << " lanes, " << far << " in " << out << ": exp(" << worst.x
                                  << ")";
      }
    }
  }
}

TEST(VectorMath, QuotientsByOneNumberAreRightForAllPairsOfNumbers) {
  if (!Host().fma) GTEST_SKIP() << "no FMA";
  const auto code = Build(R"(
    func.func @divide(%x: memref<16384xf32>, %y: memref<1xf32>, %z: memref<16384xf32>) {
      %c0 = arith.constant 0 : index
      %n = arith.constant 16384 : index
      %s = arith.constant 16 : index
      %d = memref.load %y[%c0] : memref<1xf32>
      %b = vector.broadcast %d : f32 to vector<16xf32>
      scf.for %i = %c0 to %n step %s {
        %a = vector.load %x[%i] : memref<16384xf32>, vector<16xf32>
        %r = arith.divf %a, %b : vector<16xf32>
        vector.store %r, %z[%i] : memref<16384xf32>, vector<16xf32>
      }
      return
    })",
                          {.entries = {{.name = "divide", .noalias = true}}});
  ASSERT_TRUE(code.ok()) << code.status();
  Array<float> x(kCount), y(1), z(kCount);
  std::mt19937 random(5);
  Worst worst;
  const float odd[] = {0,   -0.f,   1,         -3,        HUGE_VALF, -HUGE_VALF,
                       NAN, 1e-45f, 0x1p-126f, 0x1p-100f, 0x1p100f,  3e38f};
  for (int round = 0; round < 200; ++round) {
    std::uniform_real_distribution<float> exponent(-126, 127), near_one(1, 2);
    const auto any = [&] { return std::exp2(std::floor(exponent(random))) * near_one(random); };
    for (int i = 0; i < kCount; ++i)
      x[i] = i % 4 == 0 ? std::bit_cast<float>(static_cast<uint32_t>(random())) : any();
    std::copy(std::begin(odd), std::end(odd), x.data());
    y[0] = round < 12 ? odd[round] : round % 2 == 0 ? any() : near_one(random);
    code->Get<Kernel>("divide")(x.data(), y.data(), z.data());
    for (int i = 0; i < kCount; ++i) worst.See(double{x[i]} / double{y[0]}, x[i], y[0], z[i]);
  }
  EXPECT_LE(worst.ulp, 1.5) << worst.x << " / " << worst.y << " is not " << worst.got;
  std::printf("quotient by one number: %.4f ULP\n", worst.ulp);
}

TEST(VectorMath, AnAnnotationOfTheBlockChooses) {
  if (!Host().fma) GTEST_SKIP() << "no FMA";
  for (const bool fast : {false, true}) {
    Builder b("f");
    const Id x = b.Input("x", DType::kF32, {16}), y = b.Output("y", DType::kF32, {16});
    b.Compute("tanh", {{"i", 16}}, {y, {b.Iter(0)}}, b.Make(Op::kTanh, DType::kF32, b.Load(x, {b.Iter(0)})));
    Schedule s = Scheduled(b.Finish());
    const Block block = s.GetBlock("tanh");
    s.Vectorize(s.GetLoops(block)[0]);
    if (fast) s.Annotate(block, "fast-math", 1);
    ASSERT_TRUE(s.ok()) << s.status();
    const auto code = BuildProgram(s.program());
    ASSERT_TRUE(code.ok()) << code.status();
    Array<float> in(16, 0.0153009342f), out(16);  // for this operand, the fast tanh is 4 units off
    CallKernel(*code, "f", {in.data(), out.data()});
    EXPECT_EQ(ErrorInUlp(std::tanh(double{in[3]}), out[3]) < 1, !fast) << out[3];
  }
}

}  // namespace
}  // namespace kiln
