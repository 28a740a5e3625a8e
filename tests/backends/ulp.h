// Computes errors of f32 results in units of the last place (ULP), and the worst of several.
#pragma once

#include <algorithm>
#include <cmath>

namespace kiln {

inline double ErrorInUlp(double want, float got) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : HUGE_VAL;
  if (std::isinf(static_cast<float>(want)) && std::isinf(got)) return want * got > 0 ? 0 : HUGE_VAL;
  if (std::isinf(got)) return HUGE_VAL;
  const int exponent = want == 0 ? -126 : std::clamp(std::ilogb(want), -126, 127);
  return std::fabs(got - want) * std::ldexp(1.0, 23 - exponent);
}

struct Worst {
  double ulp = 0;
  float x = 0, y = 0, got = 0;
  void See(double want, float in_x, float in_y, float result) {
    if (static_cast<float>(want) == result) return;  // half a unit at most
    const double error = ErrorInUlp(want, result);
    if (error > ulp) *this = {error, in_x, in_y, result};
  }
};

}  // namespace kiln
