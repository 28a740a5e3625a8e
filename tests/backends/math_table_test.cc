// Tests the accuracy of each math operation that lowering may emit, compiled for each float type as scalar and vector
// code, against libm in long double. Also tests special values and integer operations.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "absl/strings/str_format.h"
#include "testing/compiled/loaded.h"

namespace kiln {
namespace {

using Real = long double;

struct Unary {
  const char* op;
  Real (*reference)(Real);
  double low, high;  // range of the inputs
  double ulp32;      // largest error on f32, in units of the last place
  double ulp64 = 1;  // largest error on f64, which glibc computes
};

Real RoundEven(Real x) { return std::nearbyint(x); }
Real Rsqrt(Real x) { return 1 / std::sqrt(x); }

const Unary kUnary[] = {
    {"math.absf", fabsl, -100, 100, 0, 0},
    {"math.ceil", ceill, -100, 100, 0, 0},
    {"math.floor", floorl, -100, 100, 0, 0},
    {"math.round", roundl, -100, 100, 0, 0},
    {"math.roundeven", RoundEven, -100, 100, 0, 0},
    {"math.trunc", truncl, -100, 100, 0, 0},
    {"math.sqrt", sqrtl, 0, 100, 0.51, 0.51},
    {"math.rsqrt", Rsqrt, 0.01, 100, 1.5, 1.5},
    {"math.cbrt", cbrtl, -100, 100, 1, 3},
    {"math.exp", expl, -80, 80, 1.1},
    {"math.exp2", exp2l, -100, 100, 1},
    {"math.expm1", expm1l, -10, 10, 3},
    {"math.log", logl, 0.01, 100, 2},
    {"math.log2", log2l, 0.01, 100, 3},
    {"math.log10", log10l, 0.01, 100, 2, 2},
    {"math.log1p", log1pl, -0.9, 100, 3},
    {"math.sin", sinl, -50, 50, 1.6},
    {"math.cos", cosl, -50, 50, 1.6},
    {"math.tan", tanl, -10, 10, 1},
    {"math.atan", atanl, -50, 50, 1},
    {"math.tanh", tanhl, -9, 9, 5, 2},
    {"math.erf", erfl, -4, 4, 5},
    {"math.erfc", erfcl, -4, 4, 3, 3},
    {"math.sinh", sinhl, -10, 10, 2, 2},
    {"math.cosh", coshl, -10, 10, 2, 2},
    {"math.asin", asinl, -1, 1, 2},
    {"math.acos", acosl, -1, 1, 2},
    {"math.asinh", asinhl, -10, 10, 2, 2},
    {"math.acosh", acoshl, 1, 100, 2, 2},
    {"math.atanh", atanhl, -0.99, 0.99, 2, 2},
    {"arith.negf", [](Real x) { return -x; }, -100, 100, 0, 0},
};

struct Binary {
  const char* op;
  Real (*reference)(Real, Real);
  double low, high;
  double ulp32;
  double ulp64 = 1;
};

const Binary kBinary[] = {
    {"math.copysign", copysignl, -10, 10, 0, 0},
    {"math.powf", powl, 0.1, 8, 1},
    {"math.atan2", atan2l, -10, 10, 1},
    {"arith.addf", [](Real x, Real y) { return x + y; }, -10, 10, 0.51, 0.51},
    {"arith.subf", [](Real x, Real y) { return x - y; }, -10, 10, 0.51, 0.51},
    {"arith.mulf", [](Real x, Real y) { return x * y; }, -10, 10, 0.51, 0.51},
    {"arith.divf", [](Real x, Real y) { return x / y; }, 0.1, 10, 0.51, 0.51},
    {"arith.remf", fmodl, -10, 10, 0, 0},
    {"arith.maximumf", fmaxl, -10, 10, 0, 0},
    {"arith.minimumf", fminl, -10, 10, 0, 0},
    {"arith.maxnumf", fmaxl, -10, 10, 0, 0},
    {"arith.minnumf", fminl, -10, 10, 0, 0},
};

struct Type {
  const char* name;
  int bytes;
  int fraction;         // stored bits of the significand
  int lowest, highest;  // exponents of the least and greatest normal number
};

const Type kTypes[] = {{"f32", 4, 23, -126, 127},
                       {"f64", 8, 52, -1022, 1023},
                       {"f16", 2, 10, -14, 15},
                       {"bf16", 2, 7, -126, 127}};

Real Ulp(const Type& type, Real x) {
  const int exponent = x == 0 ? type.lowest : std::max(std::ilogb(x), type.lowest);
  return std::ldexp(Real(1), exponent - type.fraction);
}

Real Rounded(const Type& type, Real x) {
  if (!std::isfinite(x) || x == 0) return x;
  const Real rounded = std::nearbyint(x / Ulp(type, x)) * Ulp(type, x);
  return std::fabs(rounded) >= std::ldexp(Real(1), type.highest + 1) ? std::copysign(HUGE_VALL, x) : rounded;
}

uint16_t Bits16(const Type& type, Real x) {
  if (type.fraction == 7) return std::bit_cast<uint32_t>(static_cast<float>(x)) >> 16;
  return std::bit_cast<uint16_t>(static_cast<_Float16>(x));
}

void Put(const Type& type, void* buffer, int i, Real x) {
  if (type.bytes == 8) static_cast<double*>(buffer)[i] = x;
  if (type.bytes == 4) static_cast<float*>(buffer)[i] = x;
  if (type.bytes == 2) static_cast<uint16_t*>(buffer)[i] = Bits16(type, x);
}

Real At(const Type& type, const void* buffer, int i) {
  if (type.bytes == 8) return static_cast<const double*>(buffer)[i];
  if (type.bytes == 4) return static_cast<const float*>(buffer)[i];
  const uint16_t bits = static_cast<const uint16_t*>(buffer)[i];
  return type.fraction == 7 ? Real(std::bit_cast<float>(uint32_t{bits} << 16))
                            : Real(std::bit_cast<_Float16>(bits));
}

constexpr int kSize = 4096;

// Returns MLIR text of a function that computes z[i] = op(x[i], y[i], ..) for 4096 elements, `lanes` elements at a
// time. The operation takes `operands` operands.
std::string Kernel(const std::string& name, const std::string& op, int operands, const Type& type,
                   int lanes) {
  const std::string vector = lanes == 1 ? type.name : absl::StrFormat("vector<%dx%s>", lanes, type.name);
  const std::string memory = absl::StrFormat("memref<%dx%s>", kSize, type.name);
  std::string text = absl::StrFormat("func.func @%s(%%x: %s, %%y: %s, %%z: %s, %%r: %s) {\n", name, memory,
                                     memory, memory, memory);
  absl::StrAppend(&text, "  %c0 = arith.constant 0 : index\n  %n = arith.constant ", kSize,
                  " : index\n  %s = arith.constant ", lanes,
                  " : index\n  scf.for %i = %c0 to %n step %s {\n");
  const char* names[] = {"x", "y", "z"};
  std::string list;
  for (int i = 0; i < operands; ++i) {
    absl::StrAppend(&text, "    %", names[i], "0 = ", lanes == 1 ? "memref" : "vector", ".load %", names[i],
                    "[%i] : ", memory, lanes == 1 ? "" : absl::StrCat(", ", vector), "\n");
    absl::StrAppend(&list, i ? ", " : "", "%", names[i], "0");
  }
  absl::StrAppend(&text, "    %v = ", op, " ", list, " : ", vector, "\n    ",
                  lanes == 1 ? "memref" : "vector", ".store %v, %r[%i] : ", memory,
                  lanes == 1 ? "" : absl::StrCat(", ", vector), "\n  }\n  return\n}\n");
  return text;
}

struct Buffer {
  alignas(64) char bytes[kSize * 8];
};

double WorstUlp(const Type& type, const Loaded& code, const std::string& name, double low, double high,
                const std::function<Real(Real, Real, Real)>& reference) {
  static Buffer x, y, z, r;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> draw(low, high);
  for (int i = 0; i < kSize; ++i) {
    for (Buffer* b : {&x, &y, &z}) {
      const double value = draw(random) * (i % 8 == 0 && low <= 0 ? 1e-3 : 1);
      Put(type, b->bytes, i, Rounded(type, value < low ? low : value));
    }
  }
  auto* function = code.Get<int(void*, void*, void*, void*)>(name);
  if (function == nullptr || function(x.bytes, y.bytes, z.bytes, r.bytes) != 0) return HUGE_VAL;
  double worst = 0;
  for (int i = 0; i < kSize; ++i) {
    const Real want = reference(At(type, x.bytes, i), At(type, y.bytes, i), At(type, z.bytes, i));
    const Real got = At(type, r.bytes, i);
    if (std::isinf(Rounded(type, want)) && std::isinf(got)) continue;
    const Real error = std::fabs(got - want) / Ulp(type, want);
    worst = std::isnan(error) ? HUGE_VAL : std::max<double>(worst, error);
  }
  return worst;
}

double Bound(const Type& type, double ulp32, double ulp64) {
  if (type.bytes == 8) return ulp64;
  return type.bytes == 4 ? ulp32 : ulp32 == 0 ? 0 : 0.51;
}

std::string Name(const char* op, const Type& type, int lanes) {
  std::string name = absl::StrCat(op, "_", type.name, "_", lanes);
  for (char& c : name) c = c == '.' ? '_' : c;
  return name;
}

TEST(MathTable, EveryFloatOperationIsAccurateOnEveryTypeAndWidth) {
  std::string text;
  CodegenOptions options;
  const auto add = [&](const char* op, int operands) {
    for (const Type& type : kTypes) {
      for (const int lanes : {1, 8}) {
        text += Kernel(Name(op, type, lanes), op, operands, type, lanes);
        options.entries.push_back({.name = Name(op, type, lanes)});
      }
    }
  };
  for (const Unary& op : kUnary) add(op.op, 1);
  for (const Binary& op : kBinary) add(op.op, 2);
  add("math.fma", 3);
  auto code = Build(text, options);
  ASSERT_TRUE(code.ok()) << code.status();

  const auto check = [&](const char* op, double low, double high, double ulp32, double ulp64,
                         const auto& reference) {
    for (const Type& type : kTypes) {
      for (const int lanes : {1, 8}) {
        const double worst = WorstUlp(type, *code, Name(op, type, lanes), low, high, reference);
        EXPECT_LE(worst, Bound(type, ulp32, ulp64)) << op << " on " << lanes << " x " << type.name;
      }
    }
  };
  for (const Unary& op : kUnary) {
    check(op.op, op.low, op.high, op.ulp32, op.ulp64, [&](Real x, Real, Real) { return op.reference(x); });
  }
  for (const Binary& op : kBinary) {
    check(op.op, op.low, op.high, op.ulp32, op.ulp64,
          [&](Real x, Real y, Real) { return op.reference(x, y); });
  }
  check("math.fma", -10, 10, 0.51, 0.51, [](Real x, Real y, Real z) { return x * y + z; });
}

TEST(MathTable, SpecialValuesGoWhereIeeeSaysTheyGo) {
  const float inf = HUGE_VALF;
  const float nan = NAN;
  struct Case {
    const char* op;
    float in, out;
  };
  const Case cases[] = {
      {"math.exp", -inf, 0},          {"math.exp", inf, inf},   {"math.exp", nan, nan},
      {"math.exp", 200, inf},         {"math.exp", -200, 0},    {"math.exp", 0, 1},
      {"math.log", 0, -inf},          {"math.log", -1, nan},    {"math.log", inf, inf},
      {"math.log", nan, nan},         {"math.tanh", inf, 1},    {"math.tanh", -inf, -1},
      {"math.tanh", nan, nan},        {"math.tanh", 0, 0},      {"math.erf", inf, 1},
      {"math.erf", -inf, -1},         {"math.erf", nan, nan},   {"math.log1p", -1, -inf},
      {"math.log1p", inf, inf},       {"math.expm1", -inf, -1}, {"math.expm1", inf, inf},
      {"math.expm1", 1e-20f, 1e-20f}, {"math.log2", 0, -inf},   {"math.atan", inf, 1.5707964f},
      {"math.sqrt", -1, nan},         {"math.rsqrt", 0, inf}};
  std::string text;
  CodegenOptions options;
  for (const char* op : {"math.exp", "math.log", "math.tanh", "math.erf", "math.log1p", "math.expm1",
                         "math.log2", "math.atan", "math.sqrt", "math.rsqrt"}) {
    text += Kernel(Name(op, kTypes[0], 8), op, 1, kTypes[0], 8);
    options.entries.push_back({.name = Name(op, kTypes[0], 8)});
  }
  auto code = Build(text, options);
  ASSERT_TRUE(code.ok()) << code.status();
  static Buffer x, r;
  for (const Case& c : cases) {
    for (int i = 0; i < kSize; ++i) Put(kTypes[0], x.bytes, i, c.in);
    code->Get<int(void*, void*, void*, void*)>(Name(c.op, kTypes[0], 8))(x.bytes, nullptr, nullptr, r.bytes);
    const float got = At(kTypes[0], r.bytes, 5);
    EXPECT_TRUE(got == c.out || (std::isnan(got) && std::isnan(c.out)))
        << c.op << "(" << c.in << ") is " << got << ", not " << c.out;
  }
}

// Returns MLIR text of a function that computes r[i] = op(x[i], n[i]) for a power with an integer exponent n[i],
// `lanes` elements at a time.
std::string PowerKernel(const std::string& name, const char* op, const char* base, const char* exponent,
                        int lanes) {
  const auto vector = [&](const char* t) {
    return lanes == 1 ? std::string(t) : absl::StrFormat("vector<%dx%s>", lanes, t);
  };
  const auto suffix = [&](const char* t) {
    return lanes == 1 ? std::string() : absl::StrCat(", ", vector(t));
  };
  const char* dialect = lanes == 1 ? "memref" : "vector";
  return absl::StrFormat(
      "func.func @%1$s(%%x: memref<64x%2$s>, %%n: memref<64x%3$s>, %%r: memref<64x%2$s>) {\n"
      "  %%c0 = arith.constant 0 : index\n  %%c64 = arith.constant 64 : index\n  %%s = arith.constant %4$d : "
      "index\n"
      "  scf.for %%i = %%c0 to %%c64 step %%s {\n"
      "    %%a = %5$s.load %%x[%%i] : memref<64x%2$s>%6$s\n    %%b = %5$s.load %%n[%%i] : "
      "memref<64x%3$s>%7$s\n"
      "    %%v = %8$s %%a, %%b : %9$s%10$s\n    %5$s.store %%v, %%r[%%i] : memref<64x%2$s>%6$s\n  }\n  "
      "return\n}\n",
      name, base, exponent, lanes, dialect, suffix(base), suffix(exponent), op, vector(base),
      std::string(op) == "math.fpowi" ? absl::StrCat(", ", vector(exponent)) : "");
}

TEST(MathTable, IntegerPowersWorkOnFloatsAndIntegers) {
  for (const int lanes : {1, 8}) {
    CodegenOptions options;
    options.entries = {{.name = "f32"}, {.name = "f64"}, {.name = "i32"}};
    auto code = Build(PowerKernel("f32", "math.fpowi", "f32", "i32", lanes) +
                          PowerKernel("f64", "math.fpowi", "f64", "i32", lanes) +
                          PowerKernel("i32", "math.ipowi", "i32", "i32", lanes),
                      options);
    ASSERT_TRUE(code.ok()) << code.status();
    alignas(64) float x32[64], r32[64];
    alignas(64) double x64[64], r64[64];
    alignas(64) int32_t xi[64], n[64], ri[64];
    for (int i = 0; i < 64; ++i) {
      x64[i] = x32[i] = 1 + i / 64.0f;
      xi[i] = i % 5 - 2;
      n[i] = i % 7;
    }
    ASSERT_EQ(code->Get<int(void*, void*, void*)>("f32")(x32, n, r32), 0);
    ASSERT_EQ(code->Get<int(void*, void*, void*)>("f64")(x64, n, r64), 0);
    ASSERT_EQ(code->Get<int(void*, void*, void*)>("i32")(xi, n, ri), 0);
    for (int i = 0; i < 64; ++i) {
      EXPECT_FLOAT_EQ(r32[i], std::pow(x32[i], n[i]));
      EXPECT_DOUBLE_EQ(r64[i], std::pow(x64[i], n[i]));
      EXPECT_EQ(ri[i], static_cast<int32_t>(std::pow(xi[i], n[i])));
    }
  }
}

TEST(MathTable, IntegerBitOperationsWork) {
  std::string text;
  CodegenOptions options;
  const Type i32 = {"i32", 4, 0, 0, 0};
  for (const char* op : {"math.absi", "math.ctpop", "math.ctlz", "math.cttz"}) {
    for (const int lanes : {1, 8}) {
      text += Kernel(Name(op, i32, lanes), op, 1, i32, lanes);
      options.entries.push_back({.name = Name(op, i32, lanes)});
    }
  }
  auto code = Build(text, options);
  ASSERT_TRUE(code.ok()) << code.status();
  static Buffer x, r;
  auto* in = reinterpret_cast<int32_t*>(x.bytes);
  auto* out = reinterpret_cast<int32_t*>(r.bytes);
  for (int i = 0; i < kSize; ++i) in[i] = (i - 2000) * 7919;
  for (const int lanes : {1, 8}) {
    const auto run = [&](const char* op) {
      code->Get<int(void*, void*, void*, void*)>(Name(op, i32, lanes))(x.bytes, nullptr, nullptr, r.bytes);
    };
    run("math.absi");
    for (int i = 0; i < kSize; ++i) ASSERT_EQ(out[i], std::abs(in[i]));
    run("math.ctpop");
    for (int i = 0; i < kSize; ++i) ASSERT_EQ(out[i], __builtin_popcount(in[i]));
    run("math.ctlz");
    for (int i = 0; i < kSize; ++i) ASSERT_EQ(out[i], in[i] == 0 ? 32 : __builtin_clz(in[i]));
    run("math.cttz");
    for (int i = 0; i < kSize; ++i) ASSERT_EQ(out[i], in[i] == 0 ? 32 : __builtin_ctz(in[i]));
  }
}

}  // namespace
}  // namespace kiln
