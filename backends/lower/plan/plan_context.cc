#include "backends/lower/plan/plan_context.h"

#include <algorithm>

#include "lang/analysis/bindings.h"
#include "lang/base/check.h"
#include "lang/base/defect.h"

namespace kiln {

PlanContext::PlanContext(const Program& program, const IndexPlan& plan)
    : program_(program), plan_(plan), indices_(plan), known_(plan.conditions.size()) {}

void PlanContext::ForEachCopy(const plan::Loop& loop, absl::FunctionRef<void(int64_t, int64_t)> visit) {
  const bool inside = indices_.IsBound(loop.loop);  // a copy of an iteration of the same loop
  const IndexValue outside = inside ? indices_.Of(loop.loop) : IndexValue::Constant(0);
  const auto bind = [&](const IndexValue& value, int64_t scale) {
    IndexValue sum = outside;
    sum.Add(value, scale);
    indices_.Bind(loop.loop, std::move(sum));
  };
  const int64_t end = loop.first + loop.count;
  if (loop.run == plan::Run::kUnrolled || loop.run == plan::Run::kOne) {
    for (int64_t i = loop.first; i < end; ++i) {
      bind(IndexValue::Constant(i), 1);
      const IndexValue& value = indices_.Of(loop.loop);
      const bool beyond =
          loop.ahead && value.is_constant() && value.constant >= program_.loop(loop.loop).extent.Known();
      if (!beyond) visit(i, 1);
    }
  } else if (loop.run == plan::Run::kLanes) {
    KILN_CHECK(lanes_ == 0, "a vectorized loop inside another");
    for (int64_t i = loop.first; i < end; i += loop.lanes) {
      const int64_t lanes = std::min(loop.lanes, end - i);
      IndexValue value = lanes == 1 ? IndexValue::Constant(0) : IndexValue::Lanes(lanes);
      value.constant = i;
      bind(value, 1);
      lanes_ = lanes == 1 ? 0 : lanes;
      vector_loop_ = loop.loop;
      visit(i, lanes);
    }
    lanes_ = 0;
    vector_loop_ = kNone;
  } else {
    ++level_;
    IndexValue value = IndexValue::OfAtom(indices_.AddAtom(level_, {0, loop.count - 1}));
    value.constant = loop.first;
    bind(value, loop.steps);
    visit(loop.first, loop.count);
    --level_;
  }
  inside ? indices_.Bind(loop.loop, outside) : indices_.Unbind(loop.loop);
}

void PlanContext::With(absl::Span<const int> conditions, std::optional<bool> answer,
                       absl::FunctionRef<void()> visit) {
  std::vector<std::optional<bool>> before;
  for (const int condition : conditions) {
    before.push_back(known_[condition]);
    known_[condition] = answer;
  }
  visit();
  for (size_t i = conditions.size(); i-- > 0;) known_[conditions[i]] = before[i];
}

void PlanContext::WithBoundary(int condition, int64_t value, absl::FunctionRef<void()> visit) {
  assumed_[condition] = {indices_.Eval(PartOf(condition).bound),
                         KILN_DEFECT("plan.context.boundary") ? value + 1 : value};
  visit();
  assumed_.erase(condition);
}

bool PlanContext::IsBound(const IndexSum& sum) const {
  return std::all_of(sum.splits.begin(), sum.splits.end(), [&](const IndexSplit& split) {
    if (split.source.kind == Source::Kind::kMark) return IsBound(plan_.marks.at(split.source.id));
    return indices_.IsBound(split.source.id);
  });
}

IndexSum PlanContext::UnboundPart(int condition, IndexSum* bound) const {
  const IndexSum& value = plan_.conditions[condition].value;
  IndexSum unbound;
  bound->offset = value.offset;
  for (const IndexSplit& split : value.splits)
    (IsBound(IndexSum{0, {split}}) ? bound->splits : unbound.splits).push_back(split);
  return unbound;
}

PlanContext::Part PlanContext::PartOf(int condition) const {
  Part part;
  part.rest = Bounds(UnboundPart(condition, &part.bound), Extents(program_));
  if (KILN_DEFECT("plan.context.rest")) part.rest.max = part.rest.min;
  return part;
}

std::optional<PlanContext::Trim> PlanContext::TrimOf(int condition, Id loop) const {
  Trim trim;
  IndexSum rest = UnboundPart(condition, &trim.bound);
  const auto mine = std::find_if(rest.splits.begin(), rest.splits.end(), [&](const IndexSplit& s) {
    return s.source == Source::Loop(loop) && s.lower == 1 && s.extent == 0 && s.scale > 0;
  });
  if (mine == rest.splits.end()) return std::nullopt;
  trim.scale = mine->scale;
  rest.splits.erase(mine);
  trim.others = Bounds(rest, Extents(program_));
  return trim;
}

IndexValue PlanContext::Assumed(int condition, IndexValue value) const {
  const auto boundary = assumed_.find(condition);
  if (boundary == assumed_.end()) return value;
  value.Add(boundary->second.bound, -1);
  value.constant += boundary->second.value;
  return value;
}

IndexValue PlanContext::BoundValue(int condition) {
  return Assumed(condition, indices_.Eval(PartOf(condition).bound));
}

IndexValue PlanContext::ValueOf(int condition) {
  return Assumed(condition, indices_.Eval(plan_.conditions[condition].value));
}

std::optional<bool> PlanContext::Decided(int condition) {
  if (known_[condition].has_value()) return known_[condition];
  const int64_t extent = plan_.conditions[condition].extent;
  const Interval range = indices_.RangeOf(ValueOf(condition));
  if (range.min >= 0 && range.max < extent) return true;
  if (range.max < 0 || range.min >= extent) return false;
  return std::nullopt;
}

bool PlanContext::IsMasked(const std::vector<int>& conditions) {
  return std::any_of(conditions.begin(), conditions.end(), [&](int condition) {
    return !indices_.Eval(plan_.conditions[condition].value).uniform();
  });
}

bool PlanContext::HoldsForAll(int condition) {
  const Interval rest = PartOf(condition).rest;
  return IsWithin(BoundValue(condition), plan_.conditions[condition].extent, rest.min, rest.max);
}

bool PlanContext::IsWithin(const IndexValue& value, int64_t extent, int64_t least, int64_t most) const {
  const Interval range = indices_.RangeOf(value);
  return range.min + least >= 0 && range.max + most < extent;
}

}  // namespace kiln
