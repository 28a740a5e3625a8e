#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/internal/strategy.h"
#include "lang/base/unknown_name.h"
#include "search/cost/models.h"

namespace kiln::api {
namespace {

absl::StatusOr<std::shared_ptr<const CostModel>> ReadGlobalModel(const std::string& path,
                                                                 FeatureKind features) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) return absl::NotFoundError(absl::StrCat(path, " cannot be read; `kiln train` makes such files"));
  auto model = LoadGlobalModel(features, bytes);
  if (!model.ok())
    return absl::Status(model.status().code(), absl::StrCat(path, ": ", model.status().message()));
  return model;
}

}  // namespace

absl::StatusOr<FeatureKind> FeaturesNamed(const std::string& name) {
  if (const auto kind = FeatureKindOf(name)) return *kind;
  return Mistake(absl::InvalidArgumentError(UnknownName("features", name, FeatureKindNames())));
}

absl::Status UseCostModel(const TuneSettings& settings, const Target& target, TuneOptions* tuning) {
  const absl::StatusOr<FeatureKind> features = FeaturesNamed(settings.features);
  if (!features.ok()) return features.status();
  CostModelOptions options{.features = KindFor(target, *features), .seed = tuning->seed};
  if (!settings.transfer.empty()) {
    auto global = ReadGlobalModel(settings.transfer, options.features);
    if (!global.ok()) return global.status();
    options.global = *std::move(global);
  }
  if (const auto model = MakeCostModel(settings.cost_model, options); !model.ok())
    return Mistake(model.status());
  tuning->features = options.features;
  tuning->model = [name = settings.cost_model, options](int) { return MakeCostModel(name, options); };
  return absl::OkStatus();
}

}  // namespace kiln::api
