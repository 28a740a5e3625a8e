#include "search/cost/cost_model.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lang/base/check.h"

namespace kiln {

absl::StatusOr<std::vector<double>> CostModel::Disagreement(const FeatureBatch& programs) const {
  return std::vector<double>(programs.programs(), 0.0);
}

absl::Status CheckFeatures(const FeatureBatch& programs, int dim) {
  if (programs.programs() == 0) return absl::OkStatus();
  if (programs.dim != dim) {
    return absl::InvalidArgumentError(
        absl::StrCat("the programs have ", programs.dim, " features a row, the cost model has ", dim));
  }
  KILN_CHECK(programs.values.size() == static_cast<size_t>(programs.rows()) * dim);
  const auto bad =
      std::find_if(programs.values.begin(), programs.values.end(), [](float x) { return !std::isfinite(x); });
  if (bad == programs.values.end()) return absl::OkStatus();
  const auto at = static_cast<int>(bad - programs.values.begin());
  const int row = at / dim;
  const auto after = std::upper_bound(programs.first_row.begin(), programs.first_row.end(), row);
  const int program = static_cast<int>(after - programs.first_row.begin()) - 1;
  return absl::InvalidArgumentError(absl::StrCat("feature ", at % dim, " of program ", program, ", row ",
                                                 row - programs.first_row[program], " is ", *bad,
                                                 "; features must be finite"));
}

absl::Status CheckLabels(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels) {
  if (static_cast<int>(labels.size()) != programs.programs()) {
    return absl::InvalidArgumentError(
        absl::StrCat(labels.size(), " labels for ", programs.programs(), " programs"));
  }
  for (size_t p = 0; p < labels.size(); ++p) {
    if (!(labels[p].throughput >= 0 && labels[p].throughput <= 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("program ", p, " has throughput ", labels[p].throughput,
                       "; it must be relative to the best of its task, in [0, 1]"));
    }
    if (!(labels[p].weight >= 0 && std::isfinite(labels[p].weight))) {
      return absl::InvalidArgumentError(absl::StrCat("program ", p, " has weight ", labels[p].weight,
                                                     "; it must be finite and at least 0"));
    }
  }
  return absl::OkStatus();
}

}  // namespace kiln
