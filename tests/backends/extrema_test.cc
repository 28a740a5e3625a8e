// Tests vectorized maxima and minima over floats: the result is NaN if any value is NaN, and the code has few
// instructions for that.
#include <gtest/gtest.h>

#include <limits>

#include "backends/cpu/targets.h"
#include "lang/program/builder.h"
#include "testing/compiled/run_program.h"
#include "testing/scheduled.h"

namespace kiln {
namespace {

// Returns the program y[j] = maximum or minimum over i of x[i, j], accumulated in registers: i is unrolled, and j
// vectorized with `lanes` lanes.
Program Extremum(Monoid::Kind kind, DType type, int64_t rows, int64_t lanes) {
  Builder b("extremum");
  const Id x = b.Input("x", type, {rows, lanes}), y = b.Output("y", type, {lanes});
  const IndexSum i = b.Iter(0), j = b.Iter(1);
  b.Reduce("extremum", {{"i", rows, IterKind::kReduction}, {"j", lanes}}, kind, {y, {j}}, b.Load(x, {i, j}));
  Schedule s = Scheduled(b.Finish());
  const Block block = s.GetBlock("extremum");
  const Loop around = s.AddUnitLoop(s.GetLoops(block)[0]);
  const Block combine = s.AccumulateAt(block, around, "register");
  s.Unroll(s.GetLoops(block)[1]);
  s.Vectorize(s.GetLoops(block)[2]);
  s.Vectorize(s.GetLoops(combine).back());
  EXPECT_TRUE(s.ok()) << s.status();
  return s.program();
}

template <typename T>
void Check(Monoid::Kind kind, DType type, int64_t rows, int64_t lanes) {
  const auto loaded = BuildProgram(Extremum(kind, type, rows, lanes));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const bool max = kind == Monoid::Kind::kMax;
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN(), kInfinity = std::numeric_limits<T>::infinity();
  for (const T special : {T{0}, kNan, kInfinity, -kInfinity, std::copysign(kNan, T{-1})}) {
    for (int64_t at = 0; at < rows; ++at) {  // row `at` has the special value in lanes 0, 3, ..
      Array<T> x(rows * lanes), y(lanes), wanted(lanes, max ? -kInfinity : kInfinity);
      for (int64_t i = 0; i < rows * lanes; ++i) {
        x[i] = i / lanes == at && i % lanes % 3 == 0 ? special : static_cast<T>(i * 37 % 101 - 50);
        T& extremum = wanted[i % lanes];
        if (std::isnan(x[i]) || (max ? x[i] > extremum : x[i] < extremum)) extremum = x[i];
      }
      CallKernel(*loaded, "extremum", {x.data(), y.data()});
      for (int64_t j = 0; j < lanes; ++j)
        ASSERT_TRUE(std::isnan(wanted[j]) ? std::isnan(y[j]) : y[j] == wanted[j])
            << rows << " rows, " << lanes << " lanes, " << special << " in row " << at << ": lane " << j
            << " is " << y[j] << ", not " << wanted[j];
    }
  }
}

TEST(Extrema, AreNanWhereAnyValueIs) {
  for (const Monoid::Kind kind : {Monoid::Kind::kMax, Monoid::Kind::kMin}) {
    for (const int64_t rows : {2, 3, 4, 5, 9}) {
      for (const int64_t lanes : {4, 8, 13, 16, 64}) Check<float>(kind, DType::kF32, rows, lanes);
      Check<double>(kind, DType::kF64, rows, 8);
    }
  }
}

// Returns the assembly of a maximum of nine f32 vectors with `lanes` lanes, for the named machine.
std::string Assembly(const std::string& machine, int64_t lanes) {
  const Target target = NamedTarget(machine).value();
  const auto codegen = Codegen::Create(Named(target.triple, target.cpu, target.features).value()).value();
  auto module = Lower(Extremum(Monoid::Kind::kMax, DType::kF32, 9, lanes), Context(),
                      {.vector_bytes = target.vector_bytes, .vector_registers = target.vector_registers});
  EXPECT_TRUE(module.ok()) << module.status();
  CodegenOptions options;
  options.entries.push_back({.name = "extremum", .noalias = true});
  return codegen->Text(**module, options, Stage::kAssembly).value();
}

TEST(Extrema, CompareTwoValuesAtATimeWithoutAvx512) {
  const std::string text = Assembly("x86-64-v3", 8);
  EXPECT_EQ(Count(text, "vmaxps"), 8) << text;
  EXPECT_EQ(Count(text, "vcmpunordps"), 5) << text;
}

TEST(Extrema, FixUpEachWithAvx512) {
  for (const int64_t lanes : {4, 8, 16}) {
    const std::string text = Assembly("x86-64-v4", lanes);
    EXPECT_EQ(Count(text, "vmaxps"), 8) << text;
    EXPECT_EQ(Count(text, "vfixupimmps"), 8) << text;
    EXPECT_EQ(Count(text, "vcmpunordps"), 0) << text;
  }
}

}  // namespace
}  // namespace kiln
