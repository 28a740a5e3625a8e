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

// The loops that feed the reduction, outermost first. Each iteration of `outer` has a partial result; the
// loops of `inner` are reduced into it.
struct Parts {
  Bindings bindings;  // of the block before the change
  std::vector<Id> outer, inner;
  // The block's old iters in terms of its new ones: the old spatial iters, then outer, then inner.
  std::vector<IndexSum> old_iters;
  std::vector<int64_t> extents;  // of the new iters
};

// Returns how the reduction of the block is factored; `is_outer` says which loops get partial results. kFailedPrecondition if
// it cannot be. The block must be a reduction that initializes itself and is the only writer of its results, and its instances
// must be a box of these loops.
absl::StatusOr<Parts> FactorReduction(const Program& program, Id block,
                                      const std::function<bool(Id loop)>& is_outer);

// OK if the combining block may read at the end of `scope` what the reduction starts from (loops.h, CheckMayLeave).
absl::Status CheckStartMayLeave(const Program& program, Id block, Id scope);

// Returns the range of each spatial iter that one iteration of `scope`, a node around the block, runs. kFailedPrecondition if a
// range has gaps.
absl::StatusOr<std::vector<DimRange>> SpatialRanges(const Program& program, const Parts& parts, Id scope);

// Changes the block in place to write partial results to new buffers, whose dimensions from `axis` on are the
// outer loops. Without inner loops the block becomes a plain store. Returns the combining block, detached: it
// has the spatial iters, which the caller must bind, and the outer loops as its reduction.
Id BuildPartial(Program& program, Id block, const Parts& parts, absl::string_view suffix, Scope scope,
                int axis);

}  // namespace kiln
