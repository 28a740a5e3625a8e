// Vectorize-Rows: a reduction along contiguous memory keeps partial results in vector lanes and combines the
// lanes once, at the end of the row.
//
//   for i: for k: B[i] sum= A[i, k]
//   ->
//   for i: for k0: vectorized k1: B.rf[k1] sum= A[i, k0, k1];  vectorized k1: B[i] sum= B.rf[k1]
//
// Applies to: programs, under Policy::kVectorizeRows, with a reduction along its innermost loop that reuses nothing, so
// that no tiling vectorizes it (softmax, layer norm). It is a late step: it applies wherever other modules have placed
// the reduction. One sampling site decides the lanes for all rows; 0 means that every vector is reduced by a tree.
#include <algorithm>

#include "lang/analysis/dataflow.h"
#include "modules/default_modules.h"
#include "modules/unscheduled.h"

namespace kiln {

Space VectorizeRows(VectorizeRowsOptions options) {
  return [options](Schedule& s) {
    if (!s.ok() || !s.target().policies.Has(Policy::kVectorizeRows)) return;
    const std::vector<Id> blocks = Blocks(s.program());
    if (std::none_of(blocks.begin(), blocks.end(),
                     [&](Id block) { return IsContiguousReduction(s.program(), block); }))
      return;
    s.RfactorLanes(s.SampleCategorical(options.lanes, {}, "lanes"));
  };
}

KILN_MODULE("vectorize-rows", VectorizeRows, Option("lanes", &VectorizeRowsOptions::lanes, From(0)));

}  // namespace kiln
