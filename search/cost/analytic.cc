#include "search/cost/analytic.h"

#include <numbers>

#include "search/features/columns.h"

namespace kiln {

double AnalyticScore(absl::Span<const float> rows) {
  return rows.empty() ? 0 : -std::numbers::ln2 * rows[kRooflineProgram];
}

}  // namespace kiln
