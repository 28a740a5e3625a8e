// Factors a reduction: some loops get partial results of their own in a workspace, and a second block
// combines these. rfactor and accumulate-at use it.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/region.h"
#include "lang/program/program.h"

namespace kiln {

// The loops that feed the reduction, outermost first: those whose iterations each have a partial result
// (`outer`), and those that are reduced within (`inner`).
struct Parts {
  Bindings bindings;  // of the block as it is
  std::vector<Id> outer, inner;
  // The block's iters in terms of its new ones: the old spatial iters, then outer, then inner.
  std::vector<Sum> old_iters;
  std::vector<int64_t> extents;  // of the new iters
};

// kFailedPrecondition if the block cannot be taken apart so: it is no reduction that starts itself and is the
// only one to write its results, or its instances are not a box of these loops.
absl::StatusOr<Parts> TakeApart(const Program& program, Id block,
                                const std::function<bool(Id loop)>& is_outer);

// What one iteration of `scope`, a node around the block, runs of its spatial iters; kFailedPrecondition if
// that has gaps.
absl::StatusOr<std::vector<DimRange>> SpatialRanges(const Program& program, const Parts& parts, Id scope);

// Lets the block, in its place, write its partial results to new buffers, with the extents of the outer loops
// as dimensions from `axis` on; a plain store if there is no inner loop. Returns the combining block,
// detached: its iters are the spatial ones, yet to be bound, and the outer loops as its reduction.
Id MakePartial(Program& program, Id block, const Parts& parts, absl::string_view suffix, Scope scope,
               int axis);

}  // namespace kiln
