// Numbers for x^y on 16 lanes of f32, whose tables stay in registers: 16 log2(x) and 2^(k/16).
//
// x is 2^n z with 0.708 <= z < 1.417, and z is in one of 32 intervals, told by the five bits above bit 18 of
// bits(x) - kLeast. Of each the tables have c near 1 / z with so few bits that a fused z c - 1 is exact in
// f32 and at most 0.023, and -16 log2(c) in two parts, of which adding 16 n to the first is exact. The
// interval around 1 has c = 1: nothing cancels there.
#pragma once

#include <array>
#include <cstdint>

namespace kiln {

struct PowerTables {
  static constexpr int32_t kLeast = 0x3f362000;

  // 16 log2(1 + r) / r = kFirst + kFirstLow + kSecond r + r^2 (kLog2), with a relative error of 2^-35 in
  // what log2(x) then is. kFirstLow is what kFirst, 16 / ln(2) in f32, is off.
  static constexpr float kFirst = 23.0831203f, kSecond = -11.5415602f, kFirstLow = 3.08151726e-07f;
  static constexpr double kLog2[] = {7.69437361, -5.77250814, 4.61801434};
  // (2^(f/16) - 1) / f, |f| <= 1/2
  static constexpr double kExp2[] = {0.0433216989, 0.000938415236, 1.35512573e-05};

  std::array<float, 32> inverse, log_high, log_low;
  // The bits of 2^(j/16) without j in those of the exponent, which adding k << 19 brings, and the error of
  // that f32, relative to it.
  std::array<int32_t, 16> power;
  std::array<float, 16> power_low;

  static const PowerTables& Get();
};

}  // namespace kiln
