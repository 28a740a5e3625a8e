// Numbers for x^y and e^x on 16 lanes of f32, whose tables stay in registers: 2^23 log2(x) and 2^(k/16).
//
// x is 2^n z with 0.711 <= z < 1.423, and z is in one of 32 intervals, told by the five bits above bit 18 of
// bits(x) - kMin; the bits above those are n + kBias. Of each interval the tables have a c near 1 / z with
// so few bits that a fused z c - 1 is exact in f32, at most 0.019, and -2^23 log2(c) in two parts, of which
// adding 2^23 n to the first is exact, and so is its difference to the sum with the rest of the logarithm.
// The interval around 1 has c = 1: nothing cancels there. tests/backends/vector_math_test.cc tries all z.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace kiln {

struct PowerTables {
  static constexpr float kMinZ = 0x1.6c4p-1;
  static constexpr int kBias = 125;  // then no n of a usual x is negative
  static constexpr int32_t kMin = std::bit_cast<int32_t>(kMinZ) - (kBias << 23);

  // 2^23 log2(1 + r) / r = kFirst + kFirstLow + kSecond r + r^2 (kLog2), with a relative error of 2^-35 in
  // what log2(x) then is. kFirstLow is what kFirst, 2^23 / ln(2) in f32, is off.
  static constexpr float kFirst = 0x1p19f * 23.0831203f, kFirstLow = 0x1p19f * 3.08151726e-07f,
                         kSecond = 0x1p19f * -11.5415602f;
  static constexpr double kLog2[] = {0x1p19 * 7.69437361, 0x1p19 * -5.77250814, 0x1p19 * 4.61801434};
  static constexpr int kSteps = 16;
  // Adding it rounds to multiples of 2^19, which are counted in the last bits then.
  static constexpr float kRound = 0x1.8p42;
  // (2^(f / 2^23) - 1) / f, |f| <= 0.69 * 2^19: after rounding, y times the lesser part of the logarithm adds
  // up to 0.19 of a unit.
  static constexpr double kExp2[] = {0x1p-19 * 0.0433216989, 0x1p-38 * 0.000938442652,
                                     0x1p-57 * 1.35516639e-05};

  std::array<float, 32> inverse;            // c, times 2^kBias, for z over that
  std::array<float, 32> log_high, log_low;  // less 2^23 kBias
  // The bits of 2^(j/16) without j in those of the exponent, which adding k << 19 brings, and the error of
  // that f32, relative to it.
  std::array<int32_t, kSteps> power;
  std::array<float, kSteps> power_low;

  static const PowerTables& Get();
};

}  // namespace kiln
