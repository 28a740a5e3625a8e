// Emits a version of the code for each boundary position, so that zero terms (BlockPlan::droppable) are left out
// there instead of being tested for each element.
//
//   if (0 <= b && b + 13 < 14) { 14 columns } else if (b == -1) { columns 1 .. 13 } else { columns 0 .. 12 }
//
// b is the part of the index that is known at this point, such as the tap of a window.
#include <numeric>

#include "absl/algorithm/container.h"
#include "backends/lower/emit/emit.h"
#include "lang/analysis/bindings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {

// True if the condition holds for every value of the remaining part.
bool Emitter::Holds(int condition, int64_t bound, const Interval& rest) const {
  return bound + rest.min >= 0 && bound + rest.max < plan_.conditions[condition].extent;
}

// The value of a condition, or of its known part, with the boundary value that this version assumes.
IndexValue Emitter::Assumed(int condition, IndexValue value) const {
  const auto edge = assumed_.find(condition);
  if (edge == assumed_.end()) return value;
  value.Add(edge->second.bound, -1);
  value.constant += edge->second.value;
  return value;
}

// True if the condition only skips zero terms of sums.
bool Emitter::Drops(const std::vector<Id>& blocks, int condition) const {
  return absl::c_any_of(
      blocks, [&](Id block) { return absl::c_linear_search(plan_.blocks.at(block).droppable, condition); });
}

// The boundary values of these conditions. Empty if versions do not pay: if a condition guards more than zero
// terms, or if there would be too many versions.
std::vector<BoundaryVersions> Emitter::VersionsOf(const std::vector<Id>& blocks,
                                                  const std::vector<int>& conditions) {
  if (!options_.policies.Has(Policy::kBoundaryVersions)) return {};
  std::vector<BoundaryVersions> all;
  int64_t versions = 1;
  for (const int condition : conditions) {
    IndexSum bound;
    const Interval rest = Bounds(UnboundPart(condition, &bound), Extents(p_));
    BoundaryVersions edges{condition, Eval(bound), rest, {}};
    if (!Drops(blocks, condition) || !edges.bound.uniform() || assumed_.contains(condition)) return {};
    int64_t step = 0;
    for (const IndexSplit& split : bound.splits) step = std::gcd(step, split.scale);
    if (step == 0) return {};
    const Interval range = Bounds(bound, Extents(p_));
    for (int64_t value = range.min; value <= range.max; value += step) {
      if (!Holds(condition, value, rest)) edges.values.push_back(value);
      if (std::ssize(edges.values) > options_.costs.edge_values) return {};
    }
    versions *= std::ssize(edges.values) + 1;
    all.push_back(std::move(edges));
  }
  return versions <= options_.costs.edge_versions ? all : std::vector<BoundaryVersions>();
}

// Emits the children of the loop once for each combination of boundary values.
void Emitter::EmitBoundaryVersions(Id loop, absl::Span<const BoundaryVersions> edges) {
  if (edges.empty()) return EmitChildren(loop);
  const BoundaryVersions& of = edges.front();
  const int64_t extent = plan_.conditions[of.condition].extent;
  mlir::OpBuilder::InsertionGuard guard(b_);
  const auto version = [&](mlir::Block* block) {
    b_.setInsertionPointToStart(block);
    Saved inside = EnterRegion(false);
    EmitBoundaryVersions(loop, edges.subspan(1));
    LeaveRegion(std::move(inside));
  };
  known_[of.condition] = true;
  const Value complete = InRange(of.bound, extent, of.rest.min, of.rest.max);
  auto either = complete ? mlir::scf::IfOp::create(b_, loc_, complete, /*withElseRegion=*/true) : nullptr;
  complete ? version(either.thenBlock()) : EmitBoundaryVersions(loop, edges.subspan(1));
  known_[of.condition].reset();
  if (!complete) return;
  for (const int64_t value : of.values) {
    assumed_[of.condition] = {of.bound, value};
    mlir::Block* block = either.elseBlock();
    if (value != of.values.back()) {
      b_.setInsertionPointToStart(block);
      const Value here = mlir::arith::CmpIOp::create(b_, loc_, mlir::arith::CmpIPredicate::eq,
                                                     Scalar(of.bound), ConstantIndex(value));
      either = mlir::scf::IfOp::create(b_, loc_, here, /*withElseRegion=*/true);
      block = either.thenBlock();
    }
    version(block);
    assumed_.erase(of.condition);
  }
}

}  // namespace kiln
