#include "validator/proof/enumerate.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"

namespace kiln::proof {
namespace {

using Tuple = absl::InlinedVector<int64_t, 8>;

// Visits every point in lexicographic order. Tests each condition as soon as its variables are known.
class Visitor {
 public:
  Visitor(const Points& points, int64_t& budget, absl::FunctionRef<bool(const int64_t*)> visit)
      : points_(points), budget_(budget), visit_(visit), tests_(points.variables.size() + 1) {
    values_.resize(points.variables.size());
    for (const Condition& c : points.conditions) {
      size_t known = 0;
      for (const IndexSplit& s : c.value.splits) known = std::max<size_t>(known, s.source.id + 1);
      tests_[known].push_back(&c);
    }
  }

  // Calls `visit` for each point until it returns false. Returns false if the budget is spent.
  bool Run() {
    if (!Holds(0)) return true;
    stopped_ = false;
    return Level(0);
  }

 private:
  int64_t ValueOf(const IndexSum& sum) const {
    return Evaluate(sum, [&](Source s) { return values_[s.id]; });
  }
  bool Holds(size_t level) const {
    return std::all_of(tests_[level].begin(), tests_[level].end(), [&](const Condition* c) {
      const int64_t value = ValueOf(c->value);
      return value >= 0 && value < c->extent;
    });
  }

  bool Level(size_t v) {
    if (v == values_.size()) {
      stopped_ = !visit_(values_.data());
      return true;
    }
    const Points::Variable& variable = points_.variables[v];
    int64_t first = 0, end = variable.extent;
    if (variable.value.has_value()) {
      first = ValueOf(*variable.value);
      if (first < 0 || first >= end) return true;
      end = first + 1;
    }
    for (int64_t i = first; i < end && !stopped_; ++i) {
      if (--budget_ < 0) return false;
      values_[v] = i;
      if (Holds(v + 1) && !Level(v + 1)) return false;
    }
    return true;
  }

  const Points& points_;
  int64_t& budget_;
  absl::FunctionRef<bool(const int64_t*)> visit_;
  // The conditions to test, by the number of variables that must be known first.
  std::vector<std::vector<const Condition*>> tests_;
  std::vector<int64_t> values_;
  bool stopped_ = false;
};

bool Visit(const Points& points, int64_t& budget, absl::FunctionRef<bool(const int64_t*)> visit) {
  return Visitor(points, budget, visit).Run();
}

Tuple ValuesOf(const std::vector<IndexSum>& sums, const int64_t* point) {
  Tuple tuple;
  for (const IndexSum& sum : sums) tuple.push_back(Evaluate(sum, [&](Source s) { return point[s.id]; }));
  return tuple;
}

std::vector<int64_t> PointOf(const Points& points, const int64_t* values) {
  return {values, values + points.variables.size()};
}

}  // namespace

Reply EnumeratingProver::Empty(const Points& points) {
  Reply reply{Answer::kYes};
  int64_t budget = limit_;
  const bool all = Visit(points, budget, [&](const int64_t* values) {
    reply = {Answer::kNo, PointOf(points, values)};
    return false;
  });
  return all ? reply : Reply{};
}

Reply EnumeratingProver::Covers(const Relation& f, const std::vector<Relation>& g) {
  absl::flat_hash_map<Tuple, std::vector<int64_t>> open;
  int64_t budget = limit_;
  bool all = Visit(f.points, budget, [&](const int64_t* values) {
    open.try_emplace(ValuesOf(f.results, values), PointOf(f.points, values));
    return true;
  });
  if (!all) return {};
  for (const Relation& relation : g) {
    all &= Visit(relation.points, budget, [&](const int64_t* values) {
      open.erase(ValuesOf(relation.results, values));
      return !open.empty();
    });
    if (open.empty()) return {Answer::kYes};
  }
  if (!all) return {};
  const auto least = std::min_element(open.begin(), open.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  return least == open.end() ? Reply{Answer::kYes} : Reply{Answer::kNo, least->second};
}

Reply EnumeratingProver::Determines(const std::vector<Relation>& f,
                                    const std::vector<std::vector<IndexSum>>& values) {
  absl::flat_hash_map<Tuple, Tuple> known;  // maps results to values
  int64_t budget = limit_;
  for (size_t i = 0; i < f.size(); ++i) {
    Reply reply{Answer::kYes};
    const bool all = Visit(f[i].points, budget, [&](const int64_t* point) {
      Tuple value = ValuesOf(values[i], point);
      value.push_back(static_cast<int64_t>(i));
      const auto [at, fresh] = known.try_emplace(ValuesOf(f[i].results, point), value);
      if (fresh || at->second == value) return true;
      reply = {Answer::kNo, PointOf(f[i].points, point)};
      return false;
    });
    if (!all || reply.answer == Answer::kNo) return all ? reply : Reply{};
  }
  return {Answer::kYes};
}

}  // namespace kiln::proof
