#include "validator/proof/algebra.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>

namespace kiln::proof {
namespace {

// A term scale * digit of a sum. The digit is (variable / lower) % extent and takes the values 0 .. range -
// 1.
struct Digit {
  int variable = 0;
  int64_t scale = 1, lower = 1, range = 1;
};

Digit DigitOf(const Points& points, const IndexSplit& split) {
  return {split.source.id, split.scale, split.lower, SplitRange(split, points)};
}

// Digits of a variable whose values are known, each with its value. Find returns the value of one digit. Whole returns
// the value of the variable, if its digits determine it.
struct Known {
  std::vector<std::pair<Digit, IndexSum>> digits;

  const IndexSum* Find(const Digit& digit) const {
    for (const auto& [d, value] : digits) {
      if (d.lower == digit.lower && d.range == digit.range) return &value;
    }
    return nullptr;
  }
  std::optional<IndexSum> Whole(int64_t extent) const {
    IndexSum whole;
    int64_t known = 1;
    for (bool more = true; more && known < extent;) {
      more = false;
      for (const auto& [d, value] : digits) {
        if (d.lower != known || d.range == 1) continue;
        whole = whole + value * d.lower;
        known *= d.range;
        more = true;
        break;
      }
    }
    return known >= extent ? std::optional<IndexSum>(whole) : std::nullopt;
  }
};

// Two factors of a combination of index sums, of_sum * sum - of_known * known, which may have narrow bounds, such as
// when terms cancel. `sum` is the index sum to bound, and the bounds of `known` are known.
struct Ratio {
  int64_t of_sum = 1, of_known = 1;
  friend bool operator==(const Ratio&, const Ratio&) = default;
};

// Returns factors for which sum * of_sum - known * of_known may have narrow bounds: (1, 1), (1, -1), and, for each pair
// of like digits in the two sums, those that cancel the pair.
absl::InlinedVector<Ratio, 4> Ratios(const IndexSum& sum, const IndexSum& known) {
  absl::InlinedVector<Ratio, 4> ratios{{1, 1}, {1, -1}};
  for (const IndexSplit& s : sum.splits) {
    for (const IndexSplit& k : known.splits) {
      if (s.source != k.source || s.lower != k.lower || s.extent != k.extent) continue;
      const int64_t common = std::gcd(s.scale, k.scale), sign = k.scale < 0 ? -1 : 1;
      const Ratio ratio{sign * k.scale / common, sign * s.scale / common};
      if (std::find(ratios.begin(), ratios.end(), ratio) == ratios.end()) ratios.push_back(ratio);
    }
  }
  return ratios;
}

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }

// Returns sums that are 0 at every point: each defined variable's definition minus the variable.
std::vector<IndexSum> Definitions(const Points& points) {
  std::vector<IndexSum> zeros;
  for (size_t v = 0; v < points.variables.size(); ++v) {
    if (!points.variables[v].value.has_value()) continue;
    const IndexSum variable = IndexSum::Of(Source::Iter(static_cast<int32_t>(v)), -1);
    zeros.push_back(Simplify(*points.variables[v].value + variable, points));
  }
  return zeros;
}

class Solver {
 public:
  Solver(Points& points, const std::vector<IndexSum>& results, const Relation& g)
      : points_(points), g_(g), known_(g.points.variables.size()), whole_(g.points.variables.size()) {
    for (size_t i = 0; i < results.size(); ++i)
      open_.push_back({results[i], Simplify(g.results[i], g.points)});
    for (const IndexSum& zero : Definitions(g.points)) open_.push_back({IndexSum(), zero});
  }

  std::optional<std::vector<IndexSum>> Run() {
    for (bool more = true; more;) {
      const size_t before = open_.size();
      for (size_t i = 0; i < open_.size();) {
        if (Settle(open_[i])) {
          open_.erase(open_.begin() + static_cast<int64_t>(i));
        } else {
          ++i;
        }
      }
      more = open_.size() < before;
    }
    std::vector<IndexSum> values;
    for (size_t v = 0; v < whole_.size(); ++v) {
      if (whole_[v].has_value()) {
        values.push_back(Simplify(*whole_[v], points_));
      } else if (g_.points.variables[v].value.has_value()) {
        const std::optional<IndexSum> value = Replace(
            points_, *g_.points.variables[v].value, [&](Source s) { return values[s.id]; }, g_.points);
        if (!value.has_value()) return std::nullopt;
        values.push_back(*value);
      } else if (known_[v].digits.empty()) {
        values.emplace_back();
      } else {
        return std::nullopt;
      }
    }
    return values;
  }

 private:
  struct Equation {
    IndexSum wanted, made;
  };

  std::optional<IndexSum> ValueOf(const IndexSplit& split) {
    const Digit digit = DigitOf(g_.points, split);
    if (const IndexSum* value = known_[digit.variable].Find(digit)) return *value * split.scale;
    const std::optional<IndexSum>& whole = whole_[digit.variable];
    if (!whole.has_value()) return std::nullopt;
    IndexSplit alone = split;
    alone.scale = 1;
    const std::optional<IndexSum> value =
        Replace(points_, IndexSum{0, {alone}}, [&](Source) { return *whole; }, g_.points);
    return value.has_value() ? std::optional<IndexSum>(*value * split.scale) : std::nullopt;
  }

  // Solves the equation wanted = made for the unknown digits of `made`, and adds their values to known_. Returns false
  // if these are not the digits of a number in a mixed radix, or if this number may be negative.
  bool Settle(const Equation& equation) {
    IndexSum rest = equation.wanted;
    rest.offset -= equation.made.offset;
    std::vector<Digit> unknown;
    for (const IndexSplit& split : equation.made.splits) {
      if (const std::optional<IndexSum> value = ValueOf(split)) {
        rest = rest + *value * -1;
      } else {
        unknown.push_back(DigitOf(g_.points, split));
      }
    }
    rest = Simplify(rest, points_);
    if (unknown.empty()) return true;
    std::sort(unknown.begin(), unknown.end(),
              [](const Digit& a, const Digit& b) { return std::abs(a.scale) < std::abs(b.scale); });
    for (const Digit& d : unknown) {  // shifts negative digits so that all count upwards
      if (d.scale < 0) rest.offset += -d.scale * (d.range - 1);
    }
    std::vector<IndexSum> found;
    for (size_t i = 0; i < unknown.size(); ++i) {
      const int64_t place = std::abs(unknown[i].scale);
      int64_t radix = 0;
      if (i + 1 < unknown.size()) {
        const int64_t next = std::abs(unknown[i + 1].scale);
        if (next % place != 0 || next / place < unknown[i].range) return false;
        radix = next / place;
      }
      std::optional<IndexSum> value = DivMod(rest, place, radix, points_);
      if (!value.has_value()) {
        const Interval bounds = BoundsOn(points_, rest);
        if (bounds.min < 0) return false;
        const IndexSum whole = points_.Define(rest, bounds.max + 1);
        value = IndexSum{0, {{whole.splits[0].source, 1, place, radix}}};
      }
      if (unknown[i].scale < 0) {
        value = *value * -1;
        value->offset += unknown[i].range - 1;
      }
      found.push_back(*value);
    }
    for (size_t i = 0; i < unknown.size(); ++i) {
      const int v = unknown[i].variable;
      known_[v].digits.emplace_back(unknown[i], found[i]);
      whole_[v] = known_[v].Whole(g_.points.variables[v].extent);
    }
    return true;
  }

  Points& points_;
  const Relation& g_;
  std::vector<Equation> open_;
  std::vector<Known> known_;
  std::vector<std::optional<IndexSum>> whole_;
};

// Returns the variables that define the variable `number` as a number in a mixed radix, each as a digit of this number:
// for t = y*32 + x, y is t/32 and x is t%32. `count` receives how many values the number has. Returns nothing if the
// variable has no such definition.
std::map<int, IndexSum> DigitsOf(const Points& points, size_t number, int64_t& count) {
  if (!points.variables[number].value.has_value()) return {};
  IndexSum sum = Simplify(*points.variables[number].value, points);
  if (sum.offset != 0) return {};
  std::sort(sum.splits.begin(), sum.splits.end(),
            [](const IndexSplit& a, const IndexSplit& b) { return a.scale < b.scale; });
  std::map<int, IndexSum> digits;
  count = 1;
  for (const IndexSplit& s : sum.splits) {
    const Points::Variable& variable = points.variables[s.source.id];
    if (s.scale != count || s.lower != 1 || s.extent != 0 || variable.value.has_value()) return {};
    const bool highest = s == sum.splits.back();
    digits[s.source.id] = {
        0, {{Source::Iter(static_cast<int32_t>(number)), 1, count, highest ? 0 : variable.extent}}};
    count *= variable.extent;
  }
  return digits;
}

// Makes the variable `number` free if it is defined as a number in a mixed radix of others, and replaces these others
// by its digits in all sums. Returns false if it has no such definition, or if some sum cannot express its digits; then
// the relation is changed in part.
bool ReplaceByDigits(Relation& relation, size_t number) {
  Points& points = relation.points;
  int64_t count = 1;
  const std::map<int, IndexSum> digits = DigitsOf(points, number, count);
  if (digits.empty()) return false;
  points.variables[number] = {std::min(count, points.variables[number].extent), std::nullopt};
  const auto replace = [&](IndexSum& sum) {
    const auto replaced = Substitute(
        Simplify(sum, points),
        [&](Source s) {
          const auto digit = digits.find(s.id);
          return digit == digits.end() ? std::nullopt : std::optional<IndexSum>(digit->second);
        },
        points);
    if (replaced.has_value()) sum = *replaced;
    return replaced.has_value();
  };
  bool all = true;
  for (IndexSum& result : relation.results) all = all && replace(result);
  for (Condition& c : points.conditions) all = all && replace(c.value);
  for (size_t v = 0; v < points.variables.size(); ++v) {
    std::optional<IndexSum>& value = points.variables[v].value;
    if (value.has_value() && v < number)  // variables are defined by earlier ones
      all = all && std::none_of(value->splits.begin(), value->splits.end(),
                                [&](const IndexSplit& s) { return digits.contains(s.source.id); });
    if (value.has_value() && v > number) all = all && replace(*value);
  }
  for (const auto& [variable, digit] : digits) points.variables[variable].extent = 1;  // no sum has it
  return all;
}

}  // namespace

IndexSum Points::Add(int64_t extent) {
  variables.push_back({extent, std::nullopt});
  return IndexSum::Of(Source::Iter(static_cast<int32_t>(variables.size()) - 1));
}

IndexSum Points::Define(const IndexSum& value, int64_t extent) {
  for (size_t v = 0; v < variables.size(); ++v) {
    if (variables[v].extent == extent && variables[v].value == value)
      return IndexSum::Of(Source::Iter(static_cast<int32_t>(v)));
  }
  const IndexSum variable = Add(extent);
  variables.back().value = value;
  return variable;
}

Interval BoundsOn(const Points& points, const IndexSum& value) {
  const IndexSum sum = Simplify(value, points);
  Interval bounds = Bounds(sum, points);
  const auto tighten = [&](const IndexSum& known, int64_t extent) {
    for (const auto& [of_sum, of_known] : Ratios(sum, known)) {
      const Interval apart = Bounds(Simplify(sum * of_sum + known * -of_known, points), points);
      const int64_t reach = of_known * (extent - 1);
      bounds.min = std::max(bounds.min, -FloorDiv(-(apart.min + std::min<int64_t>(0, reach)), of_sum));
      bounds.max = std::min(bounds.max, FloorDiv(apart.max + std::max<int64_t>(0, reach), of_sum));
    }
  };
  for (const Condition& c : points.conditions) tighten(c.value, c.extent);
  for (const Points::Variable& v : points.variables) {
    if (v.value.has_value()) tighten(*v.value, v.extent);
  }
  return bounds;
}

Points Tighten(Points points) {
  for (size_t v = 0; v < points.variables.size(); ++v) {
    const Interval bounds = BoundsOn(points, IndexSum::Of(Source::Iter(static_cast<int32_t>(v))));
    points.variables[v].extent = std::clamp<int64_t>(bounds.max + 1, 1, points.variables[v].extent);
  }
  return points;
}

std::optional<IndexSum> Replace(Points& points, const IndexSum& sum,
                                absl::FunctionRef<IndexSum(Source)> value, ExtentOf extent_of) {
  IndexSum result = IndexSum::Constant(sum.offset);
  for (const IndexSplit& split : sum.splits) {
    IndexSum part = value(split.source);
    const int64_t extent = extent_of(split.source);
    const bool rest = split.extent != 0 && split.lower * split.extent < extent;
    if (split.lower != 1 || rest) {
      const Interval bounds = BoundsOn(points, part);
      if (bounds.min < 0) return std::nullopt;
      std::optional<IndexSum> digit;
      if (Bounds(Simplify(part, points), points).min >= 0)
        digit = DivMod(part, split.lower, rest ? split.extent : 0, points);
      if (!digit.has_value()) {
        const IndexSum whole = points.Define(Simplify(part, points), bounds.max + 1);
        digit = IndexSum{0, {{whole.splits[0].source, 1, split.lower, rest ? split.extent : 0}}};
      }
      part = *digit;
    }
    result = result + part * split.scale;
  }
  return Simplify(result, points);
}

std::optional<std::vector<IndexSum>> Solve(Points& points, const std::vector<IndexSum>& results,
                                           const Relation& g) {
  return Solver(points, results, g).Run();
}

Relation JoinDigits(Relation relation) {
  for (size_t v = 0; v < relation.points.variables.size(); ++v) {
    Relation joined = relation;
    if (ReplaceByDigits(joined, v)) relation = std::move(joined);
  }
  return relation;
}

bool DeterminedBy(const Relation& f, const std::vector<IndexSum>& variables) {
  std::vector<Known> known(f.points.variables.size());
  std::vector<bool> whole(f.points.variables.size(), false);
  std::vector<IndexSum> open;
  for (const IndexSum& result : f.results) open.push_back(Simplify(result, f.points));
  for (const IndexSum& zero : Definitions(f.points)) open.push_back(zero);
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < open.size(); ++i) {
      std::vector<Digit> unknown;
      for (const IndexSplit& split : open[i].splits) {
        const Digit digit = DigitOf(f.points, split);
        if (!whole[digit.variable] && known[digit.variable].Find(digit) == nullptr) unknown.push_back(digit);
      }
      std::sort(unknown.begin(), unknown.end(),
                [](const Digit& a, const Digit& b) { return std::abs(a.scale) < std::abs(b.scale); });
      int64_t reach = 0;
      bool apart = !unknown.empty();
      for (const Digit& d : unknown) {
        apart &= std::abs(d.scale) > reach;
        reach += std::abs(d.scale) * (d.range - 1);
      }
      if (!apart) continue;
      for (const Digit& d : unknown) {
        known[d.variable].digits.emplace_back(d, IndexSum());
        whole[d.variable] = known[d.variable].Whole(f.points.variables[d.variable].extent).has_value();
      }
      more = true;
    }
  }
  return std::all_of(variables.begin(), variables.end(), [&](const IndexSum& v) {
    const int id = v.splits[0].source.id;
    return whole[id] || f.points.variables[id].extent == 1;
  });
}

bool Apart(const Relation& a, const Relation& b) {
  for (size_t r = 0; r < a.results.size(); ++r) {
    const Interval one = BoundsOn(a.points, a.results[r]), other = BoundsOn(b.points, b.results[r]);
    if (one.max < other.min || other.max < one.min) return true;
  }
  return false;
}

}  // namespace kiln::proof
