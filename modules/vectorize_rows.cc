// Vectorize-Rows: reductions along contiguous rows keep partial results in the lanes of vectors, and combine
// them once, at the end of the row.
//
//   for i: for k: B[i] sum= A[i, k]
//   ->
//   for i: for k0: vectorized k1: B.rf[k1] sum= A[i, k0, k1];  vectorized k1: B[i] sum= B.rf[k1]
//
// Applies to: programs with a reduction that reuses nothing, so that no tiling vectorizes it (softmax, layer
// norm, norms), wherever other modules have placed it: it is a late step. One site for all rows: how many
// lanes, 0 for a tree after every vector.
#include <algorithm>

#include "lang/analysis/bindings.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "modules/tiling.h"

namespace kiln {
namespace {

// Blocks that combine accumulators are none: which loops they have depends on what was drawn for the tiles.
bool IsRow(const Program& p, Id block) {
  if (p.block(block).monoid == kNone || HasReuse(p, block) || p.nodes[block].first != kNone) return false;
  for (const Id buffer : ReadBuffers(p, block))
    if (p.buffers[buffer].scope.storage != Storage::kGlobal) return false;
  const std::vector<bool> reduces = Feeds(p, block, IterKind::kReduction);
  return !reduces.empty() && reduces.back();
}

}  // namespace

Space VectorizeRows(VectorizeRowsOptions options) {
  return [options](Schedule& s) {
    if (!s.ok()) return;
    const std::vector<Id> blocks = Blocks(s.program());
    if (std::none_of(blocks.begin(), blocks.end(), [&](Id block) { return IsRow(s.program(), block); }))
      return;
    s.RfactorRows(s.SampleCategorical(options.lanes, {}, "lanes"));
  };
}

KILN_MODULE("vectorize-rows", VectorizeRows, Option("lanes", &VectorizeRowsOptions::lanes));

}  // namespace kiln
