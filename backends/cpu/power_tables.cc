#include "backends/cpu/power_tables.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kiln {
namespace {

PowerTables Make() {
  PowerTables t;
  for (int j = 0; j < 32; ++j) {
    const double low = std::bit_cast<float>(PowerTables::kLeast + (j << 18));
    const double high = std::bit_cast<float>(PowerTables::kLeast + ((j + 1) << 18));
    const double exact = low < 1 ? 1 : 2;
    double c = 1, unit = 128;
    const auto most = [&] { return std::max(1 - low * c, high * c - 1); };
    if (low > 1 || high < 1) {
      for (;; unit /= 2) {
        c = std::round(unit * 2 / (low + high)) / unit;
        if (most() * unit < exact) break;
      }
    }
    const double log = -16 * std::log2(c);
    t.inverse[j] = static_cast<float>(c);
    t.log_high[j] = static_cast<float>(std::round(log * 0x1p12) * 0x1p-12);
    t.log_low[j] = static_cast<float>(log - t.log_high[j]);
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
