#include "backends/cpu/passes/power_tables.h"

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

// Returns a number c near 1 / z for all z from `low` to `high`, with so few bits that z c - 1 is exact in f32. Returns
// 1 if 1 lies between `low` and `high`.
double Inverse(double low, double high) {
  if (low < 1 && high > 1) return 1;
  for (double unit = 128;; unit /= 2) {
    const double c = std::round(unit * 2 / (low + high)) / unit;
    const double most = std::max(1 - low * c, high * c - 1);
    if (most * unit < (low < 1 ? 1 : 2)) return c;
  }
}

PowerTables Make() {
  PowerTables t;
  for (int j = 0; j < 32; ++j) {
    const auto least = [](int interval) {
      return std::bit_cast<float>(std::bit_cast<int32_t>(PowerTables::kMinZ) + (interval << 18));
    };
    const double c = Inverse(least(j), least(j + 1));
    const double log = -0x1p23 * std::log2(c), high = std::round(log * 0x1p-7) * 0x1p7;
    t.inverse[j] = static_cast<float>(std::ldexp(c, PowerTables::kBias));
    t.log_high[j] = static_cast<float>(high - 0x1p23 * PowerTables::kBias);
    t.log_low[j] = static_cast<float>(log - high);
  }
  for (int j = 0; j < 16; ++j) {
    const double power = std::exp2(j / 16.0);
    const auto rounded = static_cast<float>(power);
    t.power[j] = std::bit_cast<int32_t>(rounded) - (j << 19);
    t.power_low[j] = static_cast<float>(power / rounded - 1);
  }
  return t;
}

}  // namespace

const PowerTables& PowerTables::Get() {
  static const PowerTables tables = Make();
  return tables;
}

}  // namespace kiln
