#include "validator/proof/decide.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "validator/proof/algebra.h"
#include "validator/proof/enumerate.h"

namespace kiln::proof {
namespace {

// True if bounds show that some condition holds at no point, so that the set is empty.
bool NoPoint(const Points& points) {
  return std::any_of(points.conditions.begin(), points.conditions.end(), [&](const Condition& c) {
    const Interval bounds = BoundsOn(points, c.value);
    return bounds.max < 0 || bounds.min >= c.extent || bounds.min > bounds.max;
  });
}

bool Within(const Interval& bounds, int64_t extent) { return bounds.min >= 0 && bounds.max < extent; }

}  // namespace

Points With(const Points& points, const IndexSum& value, int64_t extent) {
  Points part = points;
  part.conditions.push_back({Simplify(value, points), extent});
  return part;
}

std::vector<Points> Without(const Points& points, const IndexSum& value, int64_t extent) {
  std::vector<Points> parts;
  const Interval bounds = Bounds(Simplify(value, points), points);
  if (bounds.min < 0) {
    IndexSum below = value * -1;
    below.offset -= 1;
    parts.push_back(With(points, below, -bounds.min));
  }
  if (bounds.max >= extent) {
    IndexSum above = value;
    above.offset -= extent;
    parts.push_back(With(points, above, bounds.max - extent + 1));
  }
  return parts;
}

bool Decider::late() const { return absl::Now() > deadline_; }

Reply Decider::Empty(const Points& points) {
  if (NoPoint(points)) return {Answer::kYes};
  if (late()) return {};
  const Reply reply = EnumeratingProver(limit_).Empty(points);
  return reply.answer != Answer::kUnknown || other_ == nullptr ? reply : other_->Empty(points);
}

Reply Decider::Covers(const Relation& f, const std::vector<Relation>& g) {
  if (NoPoint(f.points)) return {Answer::kYes};
  const Relation tight{Tighten(f.points), f.results};
  for (const Relation& relation : g)
    if (Reaches(relation, tight) || Reaches(JoinDigits(relation), tight)) return {Answer::kYes};
  if (late()) return {};
  const Reply reply = EnumeratingProver(limit_).Covers(f, g);
  return reply.answer != Answer::kUnknown || other_ == nullptr ? reply : other_->Covers(f, g);
}

// True if the algebra finds, for each point of f, a point of the relation with the same results.
bool Decider::Reaches(const Relation& relation, const Relation& f) {
  Points points = f.points;
  const auto values = Solve(points, f.results, relation);
  if (!values.has_value()) return false;
  const auto value = [&](Source s) { return (*values)[s.id]; };
  const auto inside = [&](const IndexSum& sum, int64_t extent) {
    const std::optional<IndexSum> at = Replace(points, sum, value, relation.points);
    return at.has_value() && Within(BoundsOn(points, *at), extent);
  };
  for (size_t v = 0; v < values->size(); ++v)
    if (!Within(BoundsOn(points, (*values)[v]), relation.points.variables[v].extent)) return false;
  for (size_t v = 0; v < values->size(); ++v) {
    const std::optional<IndexSum>& definition = relation.points.variables[v].value;
    if (definition.has_value() && !inside(*definition + IndexSum::Of(Source::Iter(v), -1), 1)) return false;
  }
  for (const Condition& c : relation.points.conditions)
    if (!inside(c.value, c.extent)) return false;
  for (size_t r = 0; r < f.results.size(); ++r) {
    const std::optional<IndexSum> made = Replace(points, relation.results[r], value, relation.points);
    if (!made.has_value() || !Equal(points, *made, f.results[r])) return false;
  }
  return true;
}

Reply Decider::Determines(const std::vector<Relation>& f, const std::vector<std::vector<IndexSum>>& values) {
  bool proven = true;
  for (size_t i = 0; i < f.size() && proven; ++i) {
    std::vector<IndexSum> variables;
    for (const IndexSum& value : values[i]) {
      for (const IndexSplit& s : value.splits) variables.push_back(IndexSum::Of(s.source));
    }
    proven = DeterminedBy(f[i], variables);
    for (size_t j = 0; j < i && proven; ++j) proven = Apart(f[i], f[j]);
  }
  if (proven) return {Answer::kYes};
  if (late()) return {};
  const Reply reply = EnumeratingProver(limit_).Determines(f, values);
  return reply.answer != Answer::kUnknown || other_ == nullptr ? reply : other_->Determines(f, values);
}

Truth Decider::Holds(const Points& points, const IndexSum& value, int64_t extent) {
  const Interval bounds = BoundsOn(points, value);
  if (Within(bounds, extent)) return Truth::kAlways;
  if (bounds.max < 0 || bounds.min >= extent) return Truth::kNever;
  const std::vector<Points> outside = Without(points, value, extent);
  if (std::all_of(outside.begin(), outside.end(),
                  [&](const Points& part) { return Empty(part).answer == Answer::kYes; }))
    return Truth::kAlways;
  return Empty(With(points, value, extent)).answer == Answer::kYes ? Truth::kNever : Truth::kUnknown;
}

bool Decider::Equal(const Points& points, const IndexSum& a, const IndexSum& b) {
  const IndexSum difference = Simplify(a + b * -1, points);
  if (difference.IsConstant()) return difference.offset == 0;
  return Holds(points, difference, 1) == Truth::kAlways;
}

}  // namespace kiln::proof
