// Constants for x^y and e^x on 16 lanes of f32. Their tables stay in registers: 2^23 log2(x) and 2^(k/16).
//
// x = 2^n z with 0.711 <= z < 1.423. The five bits from bit 18 on of bits(x) - kMin select one of 32
// intervals of z; the bits above those are n + kBias. For each interval the tables have a c near 1 / z with
// so few bits that a fused z c - 1 is exact in f32 (at most 0.019), and -2^23 log2(c) in two parts. Adding
// 2^23 n to the first part is exact, and so is the difference between it and the sum with the rest of the
// logarithm. The interval around 1 has c = 1, so that nothing cancels there.
// tests/backends/vector_math_test.cc tries all z.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace kiln {

struct PowerTables {
  static constexpr float kMinZ = 0x1.6c4p-1;
  static constexpr int kBias = 125;  // makes n + kBias nonnegative for every usual x
  static constexpr int32_t kMin = std::bit_cast<int32_t>(kMinZ) - (kBias << 23);

  // 2^23 log2(1 + r) / r = kFirst + kFirstLow + kSecond r + r^2 (kLog2), which gives log2(x) with a relative
  // error of 2^-35. kFirst is 2^23 / ln(2) in f32, and kFirstLow is its rounding error.
  static constexpr float kFirst = 0x1p19f * 23.0831203f, kFirstLow = 0x1p19f * 3.08151726e-07f,
                         kSecond = 0x1p19f * -11.5415602f;
  static constexpr double kLog2[] = {0x1p19 * 7.69437361, 0x1p19 * -5.77250814, 0x1p19 * 4.61801434};
  static constexpr int kSteps = 16;
  // Adding this constant rounds a float to a multiple of 2^19; the low bits of the sum are the multiple.
  static constexpr float kRound = 0x1.8p42;
  // (2^(f / 2^23) - 1) / f for |f| <= 0.69 * 2^19. After rounding, |f| is at most half a unit of 2^19; y
  // times the low part of the logarithm adds up to 0.19 units.
  static constexpr double kExp2[] = {0x1p-19 * 0.0433216989, 0x1p-38 * 0.000938442652,
                                     0x1p-57 * 1.35516639e-05};

  std::array<float, 32> inverse;            // c times 2^kBias, for z in each interval
  std::array<float, 32> log_high, log_low;  // minus 2^23 kBias
  // The bits of 2^(j/16) without j in the exponent's bits, where adding k << 19 puts it, and the relative
  // error of that f32.
  std::array<int32_t, kSteps> power;
  std::array<float, kSteps> power_low;

  static const PowerTables& Get();
};

}  // namespace kiln
