#include "backends/lower/plan/index_evaluator.h"

#include <algorithm>

#include "lang/base/check.h"
#include "lang/program/layout.h"

namespace kiln {
namespace {

Interval Scaled(Interval range, int64_t scale) {
  return scale >= 0 ? Interval{range.min * scale, range.max * scale}
                    : Interval{range.max * scale, range.min * scale};
}

// Applies a function to each vector lane of an index value that is known at compile time (it has no atoms). Returns the
// value with the results.
template <typename Function>
IndexValue LaneByLane(const IndexValue& value, const Function& function) {
  IndexValue result = IndexValue::Constant(function(value.constant)), lanes;
  for (const int64_t lane : value.lanes)
    lanes.lanes.push_back(function(value.constant + lane) - result.constant);
  result.Add(lanes, 1);
  return result;
}

}  // namespace

int IndexEvaluator::Add(Atom atom) {
  atoms_.push_back(std::move(atom));
  return static_cast<int>(atoms_.size()) - 1;
}

int IndexEvaluator::Add(LaneAtom atom) {
  lane_atoms_.push_back(std::move(atom));
  return static_cast<int>(lane_atoms_.size()) - 1;
}

Interval IndexEvaluator::RangeOf(const IndexValue& value) const {
  Interval range{value.constant, value.constant};
  const auto add = [&](Interval more) { range = {range.min + more.min, range.max + more.max}; };
  for (const auto& [atom, coefficient] : value.terms) add(Scaled(atoms_[atom].range, coefficient));
  if (!value.lanes.empty()) {
    const auto [least, most] = std::minmax_element(value.lanes.begin(), value.lanes.end());
    add({*least, *most});
  }
  for (const IndexValue::PerLane& part : value.vectors) add(Scaled(lane_atoms_[part.atom].range, part.scale));
  return range;
}

int IndexEvaluator::LevelOf(const IndexValue& value) const {
  int level = 0;
  for (const auto& [atom, coefficient] : value.terms) level = std::max(level, atoms_[atom].level);
  return level;
}

IndexValue IndexEvaluator::Eval(const IndexSum& sum) {
  IndexValue result = IndexValue::Constant(sum.offset);
  for (const IndexSplit& split : sum.splits) {
    if (split.source.kind == Source::Kind::kLoop) {
      const auto loop = loops_.find(split.source.id);
      KILN_CHECK(loop != loops_.end(), "loop ", split.source.id, " is used outside of its body");
      result.Add(Digit(loop->second, split.lower, split.extent), split.scale);
    } else if (const auto computed = computed_.find(split.source.id); computed != computed_.end()) {
      result.Add(Digit(computed->second, split.lower, split.extent), split.scale);
    } else {
      const auto mark = plan_.marks.find(split.source.id);
      KILN_CHECK(split.source.kind == Source::Kind::kMark && mark != plan_.marks.end(),
                 "an unplanned source");
      result.Add(Digit(Eval(mark->second), split.lower, split.extent), split.scale);
    }
  }
  return result;
}

IndexValue IndexEvaluator::Digit(const IndexValue& value, int64_t lower, int64_t extent) {
  const Interval range = RangeOf(value);
  if (extent > 0 && range.min >= 0 && range.max < lower * extent) extent = 0;
  if (lower == 1 && extent == 0) return value;
  if (value.terms.empty() && value.vectors.empty())
    return LaneByLane(value, [&](int64_t v) { return DigitOf(v, lower, extent); });
  if (auto digit = DigitOfLess(value, lower, extent)) return *std::move(digit);
  const Interval digits{extent == 0 ? FloorDiv(range.min, lower) : 0,
                        extent == 0 ? FloorDiv(range.max, lower) : extent - 1};
  return Defined({AtomDefinition::Kind::kDigit, value, lower, extent}, digits);
}

// Returns (value / lower) % extent, or value / lower if the extent is 0, computed from only some terms of `value`, if
// their coefficients and ranges prove that the other terms do not matter. Otherwise returns nullopt.
std::optional<IndexValue> IndexEvaluator::DigitOfLess(const IndexValue& value, int64_t lower,
                                                      int64_t extent) {
  // Splits the value into terms that are multiples of `lower` and a rest. If the rest stays in 0 .. lower - 1, drops
  // it: value / lower is then the sum of the multiples, divided.
  IndexValue multiple, rest;
  multiple.constant = FloorDiv(value.constant, lower);
  rest.constant = value.constant - multiple.constant * lower;
  for (const auto& [atom, coefficient] : value.terms) {
    if (coefficient % lower == 0) {
      multiple.terms.push_back({atom, coefficient / lower});
    } else {
      rest.terms.push_back({atom, coefficient});
    }
  }
  rest.lanes = value.lanes;
  rest.vectors = value.vectors;
  const Interval rest_range = RangeOf(rest);
  const bool apart = rest_range.min >= 0 && rest_range.max < lower;
  if (apart && extent == 0) return multiple;
  if (apart && lower > 1) return Digit(multiple, 1, extent);
  // Drops terms that are multiples of lower * extent, since they do not change (value / lower) % extent. Gives up if
  // the extent is 0, if there are no such terms, or if the other terms may be negative.
  if (extent == 0) return std::nullopt;
  IndexValue less = value;
  less.constant = DigitOf(value.constant, 1, lower * extent);
  const auto is_multiple = [&](const auto& term) { return term.second % (lower * extent) == 0; };
  less.terms.erase(std::remove_if(less.terms.begin(), less.terms.end(), is_multiple), less.terms.end());
  if (less.terms.size() == value.terms.size() || RangeOf(less).min < 0) return std::nullopt;
  return Digit(less, lower, extent);
}

IndexValue IndexEvaluator::Swizzled(const kiln::Swizzle& swizzle, int64_t elements, const IndexValue& at) {
  if (swizzle.bits == 0) return at;
  if (at.terms.empty() && at.vectors.empty())
    return LaneByLane(at, [&](int64_t address) { return kiln::Swizzled(swizzle, address); });
  return Defined({AtomDefinition::Kind::kSwizzle, at, 1, 0, swizzle}, {0, elements - 1});
}

// Returns an atom (a value known only at run time) with this definition and range, computed in the innermost loop body
// on which the definition depends. Equal definitions give the same atom. If the definition differs between vector
// lanes, returns a new lane atom.
IndexValue IndexEvaluator::Defined(AtomDefinition definition, Interval range) {
  if (!definition.of.uniform()) return IndexValue::OfLaneAtom(Add(LaneAtom{range, std::move(definition)}));
  const kiln::Swizzle s = definition.swizzle;
  std::vector<int64_t> key{definition.lower, definition.extent, s.from, s.to, s.bits};
  definition.of.AppendKey(key);
  const auto [known, is_new] = defined_.emplace(std::move(key), static_cast<int>(atoms_.size()));
  if (is_new) Add(Atom{LevelOf(definition.of), range, std::move(definition)});
  return IndexValue::OfAtom(known->second);
}

}  // namespace kiln
