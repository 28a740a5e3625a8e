#include "tests/support/random_points.h"

#include "absl/strings/str_cat.h"

namespace kiln::proof {
namespace {

IndexSum RandomSum(Dice& dice, const Points& points) {
  constexpr int64_t kScales[] = {1, 1, 1, 2, 3, 4, 6, -1, -2}, kDivisors[] = {2, 3, 4};
  IndexSum sum = IndexSum::Constant(dice.Below(4) - 1);
  const auto variables = static_cast<int64_t>(points.variables.size());
  for (int64_t n = 1 + dice.Below(3); n > 0; --n) {
    IndexSplit split{Source::Iter(static_cast<int32_t>(dice.Below(variables)))};
    split.scale = kScales[dice.Below(9)];
    if (dice.Flip(0.25)) split.lower = kDivisors[dice.Below(3)];
    if (dice.Flip(0.25)) split.extent = kDivisors[dice.Below(3)];
    sum.splits.push_back(split);
  }
  return sum;
}

// Returns the sum that numbers all points: the first variable has the factor 1, and each other one the product of the
// extents of the variables before it.
IndexSum Number(const Points& points) {
  IndexSum number;
  int64_t place = 1;
  for (size_t v = 0; v < points.variables.size(); place *= points.variables[v++].extent)
    number.splits.push_back({Source::Iter(static_cast<int32_t>(v)), place});
  return Simplify(number, points);
}

Relation RandomRelation(Dice& dice, int results) {
  Relation r;
  for (int64_t n = 1 + dice.Below(3); n > 0; --n) r.points.Add(1 + dice.Below(7));
  if (dice.Flip(0.3)) {
    const bool is_number = dice.Flip(0.5);
    const int64_t extent = is_number ? 1 + dice.Below(100) : 1 + dice.Below(12);
    r.points.Define(is_number ? Number(r.points) : RandomSum(dice, r.points), extent);
  }
  for (int64_t n = dice.Below(3); n > 0; --n)
    r.points.conditions.push_back({RandomSum(dice, r.points), 1 + dice.Below(10)});
  for (int i = 0; i < results; ++i) {
    const int32_t any = static_cast<int32_t>(dice.Below(static_cast<int64_t>(r.points.variables.size())));
    r.results.push_back(dice.Flip(0.5) ? IndexSum::Of(Source::Iter(any)) : RandomSum(dice, r.points));
  }
  return r;
}

std::string ToString(const Relation& r) {
  const auto name = [](Source s) { return absl::StrCat("v", s.id); };
  std::string text = "{";
  for (size_t v = 0; v < r.points.variables.size(); ++v) {
    absl::StrAppend(&text, " v", v, " < ", r.points.variables[v].extent);
    if (r.points.variables[v].value)
      absl::StrAppend(&text, " = ", kiln::ToString(*r.points.variables[v].value, name));
  }
  for (const Condition& c : r.points.conditions)
    absl::StrAppend(&text, " | 0 <= ", kiln::ToString(c.value, name), " < ", c.extent);
  for (const IndexSum& sum : r.results) absl::StrAppend(&text, " -> ", kiln::ToString(sum, name));
  return text + " }";
}

}  // namespace

RandomQuestion DrawQuestion(Dice& dice) {
  const int results = 1 + static_cast<int>(dice.Below(3));
  RandomQuestion q;
  q.f = RandomRelation(dice, results);
  for (int64_t n = 1 + dice.Below(2); n > 0; --n) q.g.push_back(RandomRelation(dice, results));
  for (size_t v = 0; v < q.f.points.variables.size(); ++v) {
    if (dice.Flip(0.5)) q.variables.push_back(IndexSum::Of(Source::Iter(static_cast<int32_t>(v))));
  }
  return q;
}

std::string ToString(const RandomQuestion& question) {
  std::string text = ToString(question.f);
  for (const Relation& g : question.g) absl::StrAppend(&text, "\n  in ", ToString(g));
  return text;
}

}  // namespace kiln::proof
