#include "backends/prove/presburger.h"

#include <algorithm>
#include <map>

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/PresburgerRelation.h"

namespace kiln {
namespace {

using mlir::presburger::BoundType;
using mlir::presburger::IntegerPolyhedron;
using mlir::presburger::IntegerRelation;
using mlir::presburger::PresburgerRelation;
using mlir::presburger::PresburgerSpace;
using mlir::presburger::VarKind;

// The quotients (variable / divisor) in sums.
using Quotients = std::map<std::pair<int, int64_t>, int>;  // and their columns

void AddQuotients(const Sum& sum, Quotients& quotients) {
  for (const Split& s : sum.splits) {
    if (s.lower != 1) quotients[{s.source.id, s.lower}] = 0;
    if (s.extent != 0) quotients[{s.source.id, s.lower * s.extent}] = 0;
  }
}

// A set over the results, then the variables, then quotients as local variables.
class Polyhedron {
 public:
  Polyhedron(const Relation& f, const std::vector<int64_t>& fixed)
      : results_(f.results.size()),
        set_(IntegerPolyhedron(PresburgerSpace::getSetSpace(
            static_cast<unsigned>(f.results.size() + f.points.variables.size())))) {
    const Points& points = f.points;
    for (const Sum& sum : f.results) AddQuotients(sum, quotients_);
    for (const Condition& c : points.conditions) AddQuotients(c.value, quotients_);
    for (const Points::Variable& v : points.variables) {
      if (v.value.has_value()) AddQuotients(*v.value, quotients_);
    }
    for (auto& [quotient, column] : quotients_) {
      std::vector<int64_t> row(set_.getNumCols(), 0);
      row[results_ + quotient.first] = 1;
      column = static_cast<int>(set_.addLocalFloorDiv(row, quotient.second));
    }
    for (size_t v = 0; v < points.variables.size(); ++v) {
      const Sum variable = Sum::Of(Source::Iter(static_cast<int32_t>(v)));
      Within(variable, points.variables[v].extent);
      if (points.variables[v].value.has_value()) Within(*points.variables[v].value + variable * -1, 1);
    }
    for (const Condition& c : points.conditions) Within(c.value, c.extent);
    for (size_t r = 0; r < results_; ++r) {
      std::vector<int64_t> row = Row(f.results[r]);
      row[r] -= 1;
      set_.addEquality(row);
      if (r < fixed.size()) set_.addBound(BoundType::EQ, static_cast<unsigned>(r), fixed[r]);
    }
  }

  const IntegerRelation& set() const { return set_; }
  // Over the results alone.
  IntegerRelation Image() const {
    IntegerRelation image = set_;
    image.convertToLocal(VarKind::SetDim, static_cast<unsigned>(results_), set_.getNumDimVars());
    return image;
  }

 private:
  std::vector<int64_t> Row(const Sum& sum) const {
    std::vector<int64_t> row(set_.getNumCols(), 0);
    row.back() = sum.offset;
    for (const Split& s : sum.splits) {
      const size_t whole = s.lower == 1 ? results_ + s.source.id : quotients_.at({s.source.id, s.lower});
      row[whole] += s.scale;
      if (s.extent != 0) row[quotients_.at({s.source.id, s.lower * s.extent})] -= s.scale * s.extent;
    }
    return row;
  }
  void Within(const Sum& value, int64_t extent) {
    std::vector<int64_t> row = Row(value);
    set_.addInequality(row);
    for (int64_t& coefficient : row) coefficient = -coefficient;
    row.back() += extent - 1;
    set_.addInequality(row);
  }

  size_t results_;
  IntegerRelation set_;
  Quotients quotients_;
};

int Size(const Relation& f) {
  Quotients quotients;
  for (const Sum& sum : f.results) AddQuotients(sum, quotients);
  for (const Condition& c : f.points.conditions) AddQuotients(c.value, quotients);
  return static_cast<int>(f.results.size() + f.points.variables.size() + quotients.size());
}

std::vector<int64_t> Part(llvm::ArrayRef<llvm::DynamicAPInt> sample, size_t from, size_t count) {
  std::vector<int64_t> part;
  for (size_t i = from; i < from + count; ++i) part.push_back(static_cast<int64_t>(sample[i]));
  return part;
}

// A point of f with these results.
Reply PointOf(const Relation& f, const std::vector<int64_t>& results) {
  const auto sample = Polyhedron(f, results).set().findIntegerSample();
  if (!sample.has_value()) return {Answer::kYes};
  return {Answer::kNo, Part(*sample, f.results.size(), f.points.variables.size())};
}

// The points of both, with equal results.
Points Product(const Relation& f, const Relation& g) {
  Points both = f.points;
  const auto first = static_cast<int32_t>(both.variables.size());
  const auto shifted = [&](Sum sum) {
    for (Split& s : sum.splits) s.source.id += first;
    return sum;
  };
  for (const auto& [extent, value] : g.points.variables)
    both.variables.push_back(
        {extent, value.has_value() ? std::optional<Sum>(shifted(*value)) : std::nullopt});
  for (const Condition& c : g.points.conditions) both.conditions.push_back({shifted(c.value), c.extent});
  for (size_t r = 0; r < f.results.size(); ++r)
    both.conditions.push_back({f.results[r] + shifted(g.results[r]) * -1, 1});
  return both;
}

}  // namespace

Reply PresburgerProver::Empty(const Points& points) {
  const Relation all{points, {}};
  return Size(all) > options_.most_variables ? Reply{} : PointOf(all, {});
}

Reply PresburgerProver::Covers(const Relation& f, const std::vector<Relation>& g) {
  if (Size(f) > options_.most_variables || g.empty()) return {};
  for (const Relation& relation : g) {
    if (Size(relation) > options_.most_variables) return {};
  }
  PresburgerRelation covering(Polyhedron(g[0], {}).Image());
  for (size_t i = 1; i < g.size(); ++i) covering.unionInPlace(Polyhedron(g[i], {}).Image());
  covering = covering.computeReprWithOnlyDivLocals();
  PresburgerRelation left = PresburgerRelation(Polyhedron(f, {}).Image()).subtract(covering);
  llvm::SmallVector<llvm::DynamicAPInt> sample;
  if (!left.findIntegerSample(sample)) return {Answer::kYes};
  return PointOf(f, Part(sample, 0, f.results.size()));
}

Reply PresburgerProver::Determines(const std::vector<Relation>& f,
                                   const std::vector<std::vector<Sum>>& values) {
  for (size_t i = 0; i < f.size(); ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const Points both = Product(f[i], f[j]);
      const auto first = static_cast<int32_t>(f[i].points.variables.size());
      std::vector<Points> wrong;
      if (i != j) wrong.push_back(both);
      for (const Sum& value : i == j ? values[i] : std::vector<Sum>()) {
        Sum less = value;  // in the second point
        for (Split& s : less.splits) s.source.id += first;
        less = less + value * -1 + Sum::Constant(-1);
        const Interval bounds = Bounds(less, both);
        if (bounds.max < 0) continue;
        Points some = both;
        some.conditions.push_back({less, bounds.max + 1});
        wrong.push_back(some);
      }
      for (const Points& points : wrong) {
        Reply reply = Empty(points);
        if (reply.answer == Answer::kYes) continue;
        if (reply.answer == Answer::kNo) reply.point.resize(first);
        return reply;
      }
    }
  }
  return {Answer::kYes};
}

}  // namespace kiln
