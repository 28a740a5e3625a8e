#include "search/features/feature_set.h"

#include "lang/base/check.h"

namespace kiln {

void FeatureBatch::AppendRows(absl::Span<const float> rows) {
  KILN_CHECK(dim > 0 && rows.size() % dim == 0, rows.size(), " numbers are not rows of ", dim);
  values.insert(values.end(), rows.begin(), rows.end());
  first_row.push_back(first_row.back() + static_cast<int32_t>(rows.size() / dim));
}

void FeatureBatch::Append(const FeatureSet& program) {
  if (dim == 0) dim = program.dim;
  KILN_CHECK(program.dim == dim, "program has ", program.dim, " features a row, batch has ", dim);
  AppendRows(program.values);
}

void FeatureBatch::Clear() {
  values.clear();
  first_row.assign(1, 0);
}

}  // namespace kiln
