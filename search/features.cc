#include "search/features.h"

#include "search/features/columns.h"
#include "search/features/row.h"

namespace kiln {

void FeatureExtractor::Append(const Nests& nests, FeatureBatch& batch) {
  footprints_.Read(nests);
  rows_.clear();
  for (size_t b = 0; b < nests.blocks().size(); ++b) {
    if (!nests.blocks()[b].leaf) continue;
    rows_.resize(rows_.size() + kFeatureDim, 0.0f);
    FillRow(nests, footprints_, target_, static_cast<int>(b), rows_.data() + rows_.size() - kFeatureDim);
  }
  if (batch.dim == 0) batch.dim = kFeatureDim;
  batch.AppendRows(rows_);
}

FeatureSet FeatureExtractor::Extract(const Program& program) {
  nests_.Read(program);
  FeatureBatch batch;
  Append(nests_, batch);
  return {kFeatureDim, std::move(batch.values)};
}

}  // namespace kiln
