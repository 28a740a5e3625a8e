#include "search/cost/analytic.h"

#include <numbers>

#include "absl/strings/str_cat.h"
#include "search/cost/model_table.h"
#include "search/features/kinds.h"

namespace kiln {
namespace {

constexpr char kSaved[] = "kiln.roofline v1";

}  // namespace

double AnalyticScore(absl::Span<const float> rows, FeatureKind kind) {
  return rows.empty() ? 0 : -std::numbers::ln2 * rows[CyclesColumn(kind).value()];
}

absl::StatusOr<std::vector<double>> AnalyticModel::Predict(const FeatureBatch& programs) const {
  const int dim = FeatureDim(kind_);
  if (absl::Status s = CheckFeatures(programs, dim); !s.ok()) return s;
  std::vector<double> scores;
  for (int p = 0; p < programs.programs(); ++p) {
    const size_t begin = size_t(programs.first_row[p]) * dim, end = size_t(programs.first_row[p + 1]) * dim;
    scores.push_back(AnalyticScore(absl::MakeConstSpan(programs.values).subspan(begin, end - begin), kind_));
  }
  return scores;
}

absl::Status AnalyticModel::Update(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels) {
  if (absl::Status s = CheckFeatures(programs, FeatureDim(kind_)); !s.ok()) return s;
  return CheckLabels(programs, labels);
}

absl::StatusOr<std::string> AnalyticModel::Save() const { return kSaved; }

absl::Status AnalyticModel::Load(absl::string_view bytes) {
  if (bytes == kSaved) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the bytes are not '", kSaved, "'"));
}

absl::StatusOr<std::unique_ptr<CostModel>> MakeRoofline(const CostModelOptions& options) {
  return std::make_unique<AnalyticModel>(options.features);
}

}  // namespace kiln
