#include "search/cost/random_model.h"

#include <bit>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "search/cost/mix.h"
#include "search/cost/model_table.h"

namespace kiln {
namespace {

constexpr absl::string_view kHeader = "kiln.random v1 seed=";

}  // namespace

absl::StatusOr<std::vector<double>> RandomModel::Predict(const FeatureBatch& programs) const {
  if (absl::Status s = CheckFeatures(programs, programs.dim); !s.ok()) return s;
  std::vector<double> scores(programs.programs());
  for (int p = 0; p < programs.programs(); ++p) {
    const size_t begin = static_cast<size_t>(programs.first_row[p]) * programs.dim;
    const size_t end = static_cast<size_t>(programs.first_row[p + 1]) * programs.dim;
    uint64_t hash = MixBits(seed_);
    for (size_t i = begin; i < end; ++i) hash = MixBits(hash ^ std::bit_cast<uint32_t>(programs.values[i]));
    scores[p] = std::ldexp(static_cast<double>(MixBits(hash) >> 11), -53);
  }
  return scores;
}

absl::Status RandomModel::Update(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels) {
  if (absl::Status s = CheckFeatures(programs, programs.dim); !s.ok()) return s;
  return CheckLabels(programs, labels);
}

absl::StatusOr<std::string> RandomModel::Save() const { return absl::StrCat(kHeader, seed_); }

absl::Status RandomModel::Load(absl::string_view bytes) {
  uint64_t seed = 0;
  if (!absl::ConsumePrefix(&bytes, kHeader) || !absl::SimpleAtoi(bytes, &seed)) {
    return absl::InvalidArgumentError(
        absl::StrCat("these bytes are not a saved random model: they must read '", kHeader, "SEED'"));
  }
  seed_ = seed;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CostModel>> MakeRandomModel(const CostModelOptions& options) {
  return std::make_unique<RandomModel>(options.seed);
}

}  // namespace kiln
