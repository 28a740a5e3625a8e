// Tables and coefficients for x^y and e^x on 16 lanes of f32. The tables of 2^23 log2(x) and 2^(k/16) fit registers.
//
// x = 2^n z with 0.711 <= z < 1.423. The five bits from bit 18 on of bits(x) - kMin select one of 32 intervals of z;
// the bits above those are n + kBias. For each interval the tables have a c near 1 / z with so few bits that a fused z
// c - 1 is exact in f32 (at most 0.019), and -2^23 log2(c) in two parts. Adding 2^23 n to the first part is exact, and
// so is the difference between it and the sum with the rest of the logarithm. The interval around 1 has c = 1, so that
// nothing cancels there. tests/backends/vector_math_test.cc tries all z.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace kiln {

struct PowerTables {
  static constexpr float kMinZ = 0x1.6c4p-1;
  static constexpr int kBias = 125;  // makes n + kBias nonnegative for every usual x
  static constexpr int32_t kMin = std::bit_cast<int32_t>(kMinZ) - (kBias << 23);

  // Coefficients for 2^23 log2(1 + r) / r = kFirst + kFirstLow + kSecond r + r^2 (kLog2), which gives log2(x) with a
  // relative error of 2^-35. kFirst is 2^23 / ln(2) in f32, and kFirstLow is its rounding error.
  static constexpr float kFirst = 0x1p19f * 23.0831203f, kFirstLow = 0x1p19f * 3.08151726e-07f,
                         kSecond = 0x1p19f * -11.5415602f;
  static constexpr double kLog2[] = {0x1p19 * 7.69437361, 0x1p19 * -5.77250814, 0x1p19 * 4.61801434};
  static constexpr int kSteps = 16;
  // Adding this constant rounds a float to a multiple of 2^19; the low bits of the sum are the multiple.
  static constexpr float kRound = 0x1.8p42;
  // Coefficients for (2^(f / 2^23) - 1) / f with |f| <= 0.69 * 2^19. f is what rounding y * 2^23 log2(x) to a multiple
  // of 2^19 leaves, at most half of 2^19, plus y times the low part of the logarithm, at most 0.19 * 2^19.
  static constexpr double kExp2[] = {0x1p-19 * 0.0433216989, 0x1p-38 * 0.000938442652,
                                     0x1p-57 * 1.35516639e-05};

  std::array<float, 32> inverse;            // c times 2^kBias, for z in each interval
  std::array<float, 32> log_high, log_low;  // minus 2^23 kBias
  // Tables of 2^(j/16). `power` has the bits of each rounded to f32, less j << 19: adding k << 19 for a k with k % 16 =
  // j gives 2^(k/16). `power_low` has the relative rounding error of each.
  std::array<int32_t, kSteps> power;
  std::array<float, kSteps> power_low;

  static const PowerTables& Get();
};

}  // namespace kiln
