// Factors a reduction: each iteration of some loops gets a partial result in a workspace, and a second block
// combines the partial results. rfactor and accumulate-at use it.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/region.h"
#include "lang/program/program.h"

namespace kiln {

// The plan for factoring a reduction. The loops that feed the reduction are in `outer` and `inner`, outermost first.
// Each combination of iterations of `outer` gets a partial result, into which the loops of `inner` are reduced.
struct Parts {
  Bindings bindings;  // of the block before the change
  std::vector<Id> outer, inner;
  // The old iters of the block as sums over the new ones. The new iters are the old spatial iters, then one for each
  // loop of `outer`, then one for each loop of `inner`.
  std::vector<IndexSum> old_iters;
  std::vector<int64_t> extents;  // of the new iters
};

// Returns the plan for factoring the reduction of the block; `is_outer` tells which loops get partial results.
// kFailedPrecondition if it cannot be factored. The block must be a reduction that initializes itself, has no domain
// and no blocks within, and is the only writer of its results. Tiles may be imperfect at their last level only. No loop
// may feed both spatial and reduction iters, and reduction iters must be sums of loops, or of their quotients and
// remainders, each times a positive factor.
absl::StatusOr<Parts> FactorReduction(const Program& program, Id block,
                                      const std::function<bool(Id loop)>& is_outer);

// Checks that the block which combines partial results may stand at the end of `scope`: what the reduction starts from
// (its initial values) must still hold the same values there (lang/analysis/loops.h, CheckMayLeave).
absl::Status CheckStartMayLeave(const Program& program, Id block, Id scope);

// Returns, for each spatial iter of the block, the range of values that it takes in one iteration of `scope`, a node
// around the block. kFailedPrecondition if a range has gaps.
absl::StatusOr<std::vector<DimRange>> SpatialRanges(const Program& program, const Parts& parts, Id scope);

// Changes a reduction in place so that it writes partial results to new buffers in `scope`, named after the results
// plus `suffix`, in which the outer loops are the dimensions from `axis` on. Without inner loops, the block becomes a
// plain store. Returns a new, detached block that combines the partial results. The caller must bind its spatial iters;
// its reduction iters are the outer loops.
Id BuildPartial(Program& program, Id block, const Parts& parts, absl::string_view suffix, Scope scope,
                int axis);

}  // namespace kiln
