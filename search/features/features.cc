#include "search/features/features.h"

#include "search/features/columns.h"
#include "search/features/roofline.h"
#include "search/features/row.h"

namespace kiln {

void FeatureExtractor::Extract(const LoopNestSummary& nests, FeatureSet& features) {
  footprints_.Read(nests);
  features.dim = kFeatureDim;
  features.values.clear();
  for (size_t b = 0; b < nests.blocks().size(); ++b) {
    if (!nests.blocks()[b].leaf || nests.blocks()[b].prepared) continue;
    const size_t row = features.values.size();
    features.values.resize(row + kFeatureDim, 0.0f);
    FillRow(nests, footprints_, target_, static_cast<int>(b), features.values.data() + row);
    FillRoofline(target_, features.values.data() + row);
  }
  FillProgramCycles(absl::MakeSpan(features.values));
}

void FeatureExtractor::Append(const LoopNestSummary& nests, FeatureBatch& batch) {
  Extract(nests, rows_);
  batch.Append(rows_);
}

FeatureSet FeatureExtractor::Extract(const Program& program) {
  nests_.Read(program);
  FeatureSet features;
  Extract(nests_, features);
  return features;
}

}  // namespace kiln
