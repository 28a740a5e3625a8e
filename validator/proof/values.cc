#include "validator/proof/values.h"

#include "absl/strings/str_cat.h"
#include "validator/proof/algebra.h"

namespace kiln::proof {
namespace {

Look Unknown(std::string why) {
  Look look;
  look.why = std::move(why);
  return look;
}

// Decides whether all conditions hold. Returns kNever if one of them never holds; otherwise keeps only the undecided
// ones in `conditions`.
Truth DecideAll(Decider& decider, const Points& points, std::vector<Condition>& conditions) {
  std::vector<Condition> open;
  for (const Condition& c : conditions) {
    const Truth truth = decider.Holds(points, c.value, c.extent);
    if (truth == Truth::kNever) return Truth::kNever;
    if (truth == Truth::kUnknown) open.push_back(c);
  }
  conditions = open;
  return open.empty() ? Truth::kAlways : Truth::kUnknown;
}

Look SplitAt(const std::vector<Condition>& conditions) {
  Look look;
  look.kind = Look::Kind::kSplit;
  look.conditions = conditions;
  return look;
}

}  // namespace

Look LookAt(Decider& decider, Points& points, Value value) {
  const Program& p = value.model->program();
  for (;;) {
    const Expr& e = p.exprs[value.expr];
    if (e.op == Op::kWithin) {
      auto conditions = ConditionsAt(p, value.block, e.AsWithin().marks, points, *value.iters);
      if (!conditions.has_value()) return Unknown("a guard divides a number that may be negative");
      const Truth truth = DecideAll(decider, points, *conditions);
      if (truth == Truth::kUnknown) return SplitAt(*conditions);
      value.expr = truth == Truth::kAlways ? e.AsWithin().value : e.AsWithin().otherwise;
      continue;
    }
    Look look;
    look.value = value;
    look.kind = Look::Kind::kOperation;
    if (e.op != Op::kLoad) return look;
    auto index = IndicesAt(p, value.block, e.AsLoad().index, points, *value.iters);
    if (!index.has_value()) return Unknown("an index divides a number that may be negative");
    look.kind = Look::Kind::kElement;
    look.buffer = e.AsLoad().buffer;
    look.index = *std::move(index);
    return look;
  }
}

std::optional<std::vector<IndexSum>> ItersOf(Decider& decider, Points& points, const Model& model,
                                             const Writer& writer, const std::vector<IndexSum>& index,
                                             std::vector<Condition>* open) {
  const Program& p = model.program();
  const auto own = p.Iters(p.block(writer.block).iters);
  Relation dest;
  std::vector<IndexSum> variables;
  for (const Iter& iter : own) variables.push_back(dest.points.Add(iter.extent.Known()));
  dest.results = *IndicesAt(p, writer.block, model.Dest(writer).index, dest.points, variables);
  auto iters = Solve(points, index, dest);
  if (!iters.has_value()) return std::nullopt;
  for (size_t d = 0; d < index.size(); ++d) {
    const std::optional<IndexSum> made =
        Replace(points, dest.results[d], [&](Source s) { return (*iters)[s.id]; }, dest.points);
    if (!made.has_value()) return std::nullopt;
    if (decider.Equal(points, *made, index[d])) continue;
    if (open == nullptr) return std::nullopt;
    open->push_back({Simplify(*made + index[d] * -1, points), 1});
  }
  iters->resize(own.size());
  return iters;
}

std::optional<std::vector<Condition>> Exists(Points& points, const Model& model, Id block,
                                             const std::vector<IndexSum>& iters) {
  const Program& p = model.program();
  auto conditions = ConditionsAt(p, block, p.block(block).domain, points, iters);
  if (!conditions.has_value()) return std::nullopt;
  const auto own = p.Iters(p.block(block).iters);
  for (size_t i = 0; i < own.size(); ++i) conditions->push_back({iters[i], own[i].extent.Known()});
  return conditions;
}

Look Follow(Decider& decider, Points& points, const Look& element) {
  const Model& model = *element.value.model;
  const Program& p = model.program();
  const std::vector<Unit>& units = model.units(element.buffer);
  if (units.empty()) return Unknown(absl::StrCat(p.Text(p.buffers[element.buffer].name), " has no writer"));
  const Unit& unit = units[0];
  for (size_t w = unit.reduces ? 1 : unit.writers.size(); w-- > 0;) {
    const Writer& writer = unit.writers[w];
    std::vector<Condition> open;
    auto iters = ItersOf(decider, points, model, writer, element.index, w > 0 ? &open : nullptr);
    if (!iters.has_value())
      return Unknown(absl::StrCat("the index at which block \"", p.Text(p.block(writer.block).name),
                                  "\" writes cannot be inverted"));
    if (w > 0) {
      auto conditions = Exists(points, model, writer.block, *iters);
      if (!conditions.has_value()) return Unknown("a domain divides a number that may be negative");
      conditions->insert(conditions->end(), open.begin(), open.end());
      const Truth truth = DecideAll(decider, points, *conditions);
      if (truth == Truth::kNever) continue;
      if (truth == Truth::kUnknown) return SplitAt(*conditions);
    }
    Value value{&model, writer.block, p.List(p.block(writer.block).values)[writer.result],
                std::make_shared<std::vector<IndexSum>>(*std::move(iters))};
    if (!unit.reduces) return LookAt(decider, points, value);
    Look look;
    look.kind = Look::Kind::kReduction;
    look.value = value;
    look.buffer = element.buffer;
    look.unit = &unit;
    return look;
  }
  return Unknown("no writer");
}

}  // namespace kiln::proof
