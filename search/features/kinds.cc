#include "search/features/kinds.h"

#include <algorithm>

#include "search/features/columns.h"
#include "search/features/configuration.h"
#include "search/features/context.h"
#include "search/features/gpu_features.h"

namespace kiln {

static_assert(kFeatureDim != kContextDim && kContextDim != kConfigurationDim &&
              kFeatureDim != kConfigurationDim && kGpuFeatureDim < std::min(kFeatureDim, kContextDim));

const std::vector<std::string>& FeatureKindNames() {
  static const auto& names =
      *new std::vector<std::string>{"ansor", "context-relation", "configuration", "gpu"};
  return names;
}

std::optional<FeatureKind> FeatureKindOf(absl::string_view name) {
  const std::vector<std::string>& names = FeatureKindNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<FeatureKind>(found - names.begin());
}

int FeatureDim(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kAnsor:
      return kFeatureDim;
    case FeatureKind::kContextRelation:
      return kContextDim;
    case FeatureKind::kConfiguration:
      return kConfigurationDim;
    case FeatureKind::kGpu:
      return kGpuFeatureDim;
  }
  return 0;
}

FeatureKind KindFor(const Target& target, FeatureKind kind) {
  if (kind != FeatureKind::kAnsor && kind != FeatureKind::kGpu) return kind;
  return target.gpu != nullptr ? FeatureKind::kGpu : FeatureKind::kAnsor;
}

std::optional<int> CyclesColumn(FeatureKind kind) {
  if (kind == FeatureKind::kAnsor) return kRooflineProgram;
  if (kind == FeatureKind::kGpu) return kGpuProgramCycles;
  return std::nullopt;
}

KindExtractor::KindExtractor(const Target& target, FeatureKind kind)
    : kind_(KindFor(target, kind)), ansor_(target) {
  if (kind_ == FeatureKind::kGpu) gpu_.emplace(*target.gpu);
}

void KindExtractor::Extract(const LoopNestSummary& nests, const Replayed& replayed, FeatureSet& features) {
  if (kind_ == FeatureKind::kAnsor) return ansor_.Extract(nests, features);
  if (kind_ == FeatureKind::kGpu) {
    gpu_->Cycles(nests);
    return FillGpuFeatures(*gpu_, features);
  }
  features.dim = FeatureDim(kind_);
  features.values.clear();
  if (kind_ == FeatureKind::kConfiguration) {
    features.values.resize(kConfigurationDim, 0.0f);
    return FillConfigurationRow(replayed, features.values.data());
  }
  footprints_.Read(nests);
  for (size_t b = 0; b < nests.blocks().size(); ++b) {
    if (!nests.blocks()[b].leaf || nests.blocks()[b].prepared) continue;
    const size_t row = features.values.size();
    features.values.resize(row + kContextDim, 0.0f);
    FillContextRow(nests, footprints_, static_cast<int>(b), features.values.data() + row);
  }
}

FeatureSet KindExtractor::Extract(const Replayed& replayed) {
  nests_.Read(replayed.program());
  FeatureSet features;
  Extract(nests_, replayed, features);
  return features;
}

}  // namespace kiln
