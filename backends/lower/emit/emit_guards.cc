// Emits conditions as far outside as their loops allow, once for a whole tile if possible.
#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "backends/lower/emit/emit.h"
#include "backends/lower/passes/unrolled.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/base/check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace kiln {
namespace {

namespace arith = mlir::arith;

// The term of a sum that is a positive multiple of the loop variable; end() if there is none.
auto MultipleOf(const IndexSum& sum, Id loop) {
  return std::find_if(sum.splits.begin(), sum.splits.end(), [&](const IndexSplit& s) {
    return s.source == Source::Loop(loop) && s.lower == 1 && s.extent == 0 && s.scale > 0;
  });
}

}  // namespace

mlir::Value Emitter::And(Value a, Value b) {
  if (!a || !b) return a ? a : b;
  return arith::AndIOp::create(b_, loc_, a, b);
}

// The test 0 <= value + least and value + most < extent; null if it is known to hold.
mlir::Value Emitter::InRange(const IndexValue& value, int64_t extent, int64_t least, int64_t most) {
  const Interval range = RangeOf(value);
  const bool below = range.min + least < 0, above = range.max + most >= extent;
  const auto shifted = [&](int64_t by) {
    IndexValue moved = value;
    moved.constant += by;
    return Scalar(moved);
  };
  if (below && above && least == most) {
    return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, shifted(least), ConstantIndex(extent));
  }
  Value result;
  if (above)
    result = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, shifted(most), ConstantIndex(extent));
  if (below) {
    result = And(
        result, arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sge, shifted(least), ConstantIndex(0)));
  }
  return result;
}

Emitter::Test Emitter::TestOf(int condition) {
  const Condition& c = plan_.conditions[condition];
  Test test;
  test.known = known_[condition];
  if (test.known.has_value()) return test;
  const IndexValue value = Assumed(condition, Eval(c.value));
  const Interval range = RangeOf(value);
  if (range.min >= 0 && range.max < c.extent) test.known = true;
  if (range.max < 0 || range.min >= c.extent) test.known = false;
  if (test.known.has_value()) return test;
  if (value.uniform()) {
    test.uniform = InRange(value, c.extent, 0, 0);
    return test;
  }
  const IndexValue base = value.Uniform();
  const Interval least_most = [&] {
    IndexValue apart = value;
    apart.constant = 0;
    apart.terms.clear();
    return RangeOf(apart);
  }();
  // If this test fails, no lane passes: it tests the lanes that are nearest to the two bounds.
  test.any = InRange(base, c.extent - least_most.min + least_most.max, least_most.max, least_most.max);
  const bool narrow =
      std::max(-range.min, std::max(range.max, c.extent)) < INT32_MAX && value.vectors.empty();
  if (!narrow) {
    const Value extent = ConstantLanes(std::vector<int64_t>(lanes_, c.extent), b_.getIndexType());
    test.mask = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, Vector(value), extent);
    return test;
  }
  const mlir::Type i32 = b_.getI32Type();
  Value lanes = ConstantLanes(value.lanes, i32);
  if (!base.is_constant() || base.constant != 0) {
    const Value scalar = arith::IndexCastOp::create(b_, loc_, i32, Scalar(base));
    lanes = arith::AddIOp::create(b_, loc_, AsVector(scalar), lanes);
  }
  const Value extent = ConstantLanes(std::vector<int64_t>(lanes_, c.extent), i32);
  test.mask = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, lanes, extent);
  return test;
}

// The conditions of these blocks that are not decided yet.
std::vector<int> Emitter::OpenConditions(const std::vector<Id>& blocks) const {
  std::vector<int> open;
  const auto add = [&](const std::vector<int>& conditions) {
    // If one condition of a block fails, its other conditions do not matter.
    for (const int c : conditions) {
      if (known_[c] == false) return;
    }
    for (const int c : conditions) {
      if (!known_[c].has_value() && std::find(open.begin(), open.end(), c) == open.end()) open.push_back(c);
    }
  };
  for (const Id block : blocks) {
    const BlockPlan& plan = plan_.blocks.at(block);
    add(plan.guards);
    for (const auto& [expr, conditions] : plan.within) add(conditions);
  }
  std::sort(open.begin(), open.end());
  return open;
}

bool Emitter::GuardsAll(int condition, const std::vector<Id>& blocks) const {
  return std::all_of(blocks.begin(), blocks.end(), [&](Id block) {
    const std::vector<int>& guards = plan_.blocks.at(block).guards;
    return std::find(guards.begin(), guards.end(), condition) != guards.end();
  });
}

// The part of a condition's value over loops that are not bound yet. The other part goes to `bound`.
IndexSum Emitter::UnboundPart(int condition, IndexSum* bound) const {
  const IndexSum& value = plan_.conditions[condition].value;
  const auto is_bound = [&](auto& self, const IndexSum& sum) -> bool {
    return std::all_of(sum.splits.begin(), sum.splits.end(), [&](const IndexSplit& s) {
      if (s.source.kind == Source::Kind::kMark) return self(self, plan_.marks.at(s.source.id));
      return loops_.count(s.source.id) > 0;
    });
  };
  IndexSum unbound;
  bound->offset = value.offset;
  for (const IndexSplit& split : value.splits) {
    (is_bound(is_bound, IndexSum{0, {split}}) ? bound->splits : unbound.splits).push_back(split);
  }
  return unbound;
}

// True if 0 <= bound + rest < extent has the same answer for all values of `rest`, for every value of
// `bound`. This is so, for example, for tiles of 4 that end exactly at the bound 56.
bool Emitter::HoldsAlike(const IndexSum& bound, const Interval& rest, int64_t extent) const {
  const Interval range = Bounds(bound, Extents(p_));
  int64_t step = 0;  // distance between values of the bound part
  for (const IndexSplit& split : bound.splits) step = std::gcd(step, split.scale);
  const auto some_cross = [&](int64_t limit) {  // bound + rest.min < limit <= bound + rest.max
    int64_t first = std::max(range.min, limit - rest.max);
    if (step > 0) first = bound.offset - FloorDiv(bound.offset - first, step) * step;
    return first <= std::min(range.max, limit - rest.min - 1);
  };
  return !some_cross(0) && !some_cross(extent);
}

bool Emitter::HoldsAlike(int condition) const {
  IndexSum bound;
  const Interval rest = Bounds(UnboundPart(condition, &bound), Extents(p_));
  return HoldsAlike(bound, rest, plan_.conditions[condition].extent);
}

// The test that a condition holds for every value of its unbound part; null if it is known to hold.
mlir::Value Emitter::HoldsForAll(int condition) {
  IndexSum bound;
  const Interval rest = Bounds(UnboundPart(condition, &bound), Extents(p_));
  return InRange(Assumed(condition, Eval(bound)), plan_.conditions[condition].extent, rest.min, rest.max);
}

// True if less than half of the values of the bound part make the condition hold for the whole unbound part.
// A version for them is rarely taken, and unrolled iterations decide more, each for its own part.
bool Emitter::SeldomHolds(int condition) const {
  IndexSum bound;
  const Interval rest = Bounds(UnboundPart(condition, &bound), Extents(p_));
  const Interval range = Bounds(bound, Extents(p_));
  const int64_t first = std::max(range.min, -rest.min);
  const int64_t last = std::min(range.max, plan_.conditions[condition].extent - 1 - rest.max);
  return 2 * (last - first + 1) < range.max - range.min + 1;
}

// True if a smaller upper bound of the loop decides the condition for everything below it.
bool Emitter::TrimsExactly(int condition, Id loop, const std::vector<Id>& blocks) const {
  if (!GuardsAll(condition, blocks)) return false;
  IndexSum bound;
  IndexSum rest = UnboundPart(condition, &bound);
  const auto mine = MultipleOf(rest, loop);
  if (mine == rest.splits.end() || Bounds(plan_.conditions[condition].value, Extents(p_)).min < 0)
    return false;
  bound.splits.push_back(*mine);
  rest.splits.erase(mine);
  return HoldsAlike(bound, Bounds(rest, Extents(p_)), plan_.conditions[condition].extent);
}

// The reduced upper bound of a loop that is not bound yet; null if it need not change. Adds to `established`
// the conditions that it guarantees.
mlir::Value Emitter::TrimmedUpper(Id loop, std::vector<int>& established) {
  const std::vector<Id> blocks = BlocksBelow(p_, loop);
  Value upper;
  bool runs = true;
  for (const int condition : OpenConditions(blocks)) {
    if (!GuardsAll(condition, blocks)) continue;
    IndexSum bound;
    IndexSum unbound = UnboundPart(condition, &bound);
    const auto mine = MultipleOf(unbound, loop);
    if (mine == unbound.splits.end()) continue;
    const int64_t scale = mine->scale;
    const bool exact = TrimsExactly(condition, loop, blocks);
    unbound.splits.erase(mine);
    const int64_t least = Bounds(unbound, Extents(p_)).min;
    // value < extent  <=>  loop < ceil((extent - bound - least) / scale), if the unbound part has its
    // smallest value.
    IndexValue room = IndexValue::Constant(plan_.conditions[condition].extent - least + scale - 1);
    const IndexValue above = Eval(bound);
    if (!above.uniform()) continue;
    room.Add(above, -1);
    const int64_t extent = p_.loop(loop).extent.Known();
    if (RangeOf(room).min < scale * extent) {
      Value count = Scalar(room);
      if (scale != 1) count = arith::DivSIOp::create(b_, loc_, count, ConstantIndex(scale));
      upper = arith::MinSIOp::create(b_, loc_, upper ? upper : ConstantIndex(extent), count);
      runs = runs && RangeOf(room).min >= scale;
    }
    if (exact) established.push_back(condition);
  }
  // LLVM hoists loads only out of loops that run at least once, and cannot derive that from a product.
  if (upper && runs) upper = arith::MaxSIOp::create(b_, loc_, upper, ConstantIndex(1));
  return upper;
}

// True if an inner loop should emit the version for complete tiles instead: it has conditions of its own and
// contains all blocks that use the conditions `candidates`.
bool Emitter::Postponed(Id loop, const std::vector<int>& candidates) const {
  const std::vector<Id> all = BlocksBelow(p_, loop);
  std::vector<Id> users;
  for (const Id block : all) {
    const std::vector<int> open = OpenConditions({block});
    if (std::any_of(open.begin(), open.end(), [&](int c) {
          return std::find(candidates.begin(), candidates.end(), c) != candidates.end();
        })) {
      users.push_back(block);
    }
  }
  Id at = loop;
  while (true) {
    Id inner = kNone;
    for (Id child = p_.nodes[at].first; child != kNone; child = p_.nodes[child].next) {
      const std::vector<Id> below = BlocksBelow(p_, child);
      if (p_.IsLoop(child) && std::all_of(users.begin(), users.end(),
                                          [&](Id user) { return absl::c_linear_search(below, user); }))
        inner = child;
    }
    if (inner == kNone) return false;
    at = inner;
    if (IsFullyUnrolled(p_.loop(at))) continue;
    const std::vector<Id> below = BlocksBelow(p_, at);
    for (const int c : OpenConditions(below)) {
      if (absl::c_linear_search(plan_.conditions[c].loops, at) && !TrimsExactly(c, at, below)) return true;
    }
  }
}

}  // namespace kiln
