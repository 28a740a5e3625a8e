// Compares two reductions by the bags (multisets) of values that they combine.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/program/start.h"
#include "validator/proof/algebra.h"
#include "validator/proof/compare.h"

namespace kiln::proof {

// Instances of a block that contribute to a reduced element: one instance for each of `points`. These are the points of
// the element, extended by variables such as those for the reduction iters.
struct Comparison::Part {
  Points points;
  std::vector<IndexSum> bound;  // the variables added for the reduction iters
  Value value;                  // result 0 of the block, with all iters given
};

namespace {

Finding Unknown(std::string why) { return {Answer::kUnknown, std::move(why), {}}; }

const BlockNode& BlockOf(const Value& value) { return value.model->program().block(value.block); }

std::string NameOf(const Value& value) {
  return absl::StrCat("block \"", value.model->program().Text(BlockOf(value).name), "\"");
}

Value Result(const Value& value, int r) {
  Value result = value;
  result.expr = value.model->program().List(BlockOf(value).values)[r];
  return result;
}

// True if the combine expressions of two monoids have the same operations, dtypes, arguments and constants.
bool SameExpr(const Program& p, Id e, const Program& q, Id f) {
  const Expr &x = p.exprs[e], &y = q.exprs[f];
  if (x.op != y.op || x.dtype != y.dtype) return false;
  if ((x.op == Op::kConstant || x.op == Op::kArg) && x.Number() != y.Number()) return false;
  for (size_t i = 0; i < x.Operands().size(); ++i)
    if (!SameExpr(p, x.Operands()[i], q, y.Operands()[i])) return false;
  return true;
}

bool SameMonoid(const Value& a, const Value& b) {
  const Program &p = a.model->program(), &q = b.model->program();
  const Monoid &one = p.monoids[BlockOf(a).monoid], &other = q.monoids[BlockOf(b).monoid];
  const auto same = [&](Range x, Range y) {
    if (x.count != y.count) return false;
    for (int i = 0; i < x.count; ++i) {
      const Id e = p.List(x)[i], f = q.List(y)[i];
      if (one.kind == Monoid::Kind::kCustom ? !SameExpr(p, e, q, f) : p.exprs[e].dtype != q.exprs[f].dtype)
        return false;
    }
    return true;
  };
  return one.kind == other.kind && same(one.identity, other.identity) && same(one.combine, other.combine);
}

// True if all blocks that write a unit, which together compute a reduction, have the same bodies, iters and
// destinations. They may run different instances.
bool SameBlocks(const Program& p, const Unit& unit) {
  const auto same = [](Range a, Range b) { return a.begin == b.begin && a.count == b.count; };
  const BlockNode& first = p.block(unit.writers[0].block);
  return std::all_of(unit.writers.begin(), unit.writers.end(), [&](const Writer& w) {
    const BlockNode& block = p.block(w.block);
    bool equal = same(block.values, first.values) && same(block.domain, first.domain) &&
                 same(block.provenance.map, first.provenance.map) && block.monoid == first.monoid &&
                 block.iters.count == first.iters.count && block.dests.count == first.dests.count &&
                 w.result == unit.writers[0].result;
    for (int i = 0; equal && i < block.iters.count; ++i) {
      const Iter &a = p.Iters(block.iters)[i], &b = p.Iters(first.iters)[i];
      equal = a.extent == b.extent && a.kind == b.kind;
    }
    for (int r = 0; equal && r < block.dests.count; ++r) {
      const Access &a = p.Accesses(block.dests)[r], &b = p.Accesses(first.dests)[r];
      equal = a.buffer == b.buffer && same(a.index, b.index);
    }
    return equal;
  });
}

// Extends a value of a reduction to all its instances: adds a variable for each reduction iter of the value's block,
// and the conditions of its domain. Returns false if a domain cannot be expressed.
bool Open(Points& points, std::vector<IndexSum>& bound, Value& value) {
  const Program& p = value.model->program();
  auto iters = std::make_shared<std::vector<IndexSum>>(*value.iters);
  const auto own = p.Iters(BlockOf(value).iters);
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].kind != IterKind::kReduction) continue;
    (*iters)[i] = points.Add(own[i].extent.Known());
    bound.push_back((*iters)[i]);
  }
  const auto domain = ConditionsAt(p, value.block, BlockOf(value).domain, points, *iters);
  if (!domain.has_value()) return false;
  for (const Condition& c : *domain) points = With(points, c.value, c.extent);
  value.iters = iters;
  return true;
}

// Returns the variables with an extent above 1 that no definition determines.
std::vector<IndexSum> FreeOf(const Points& points) {
  std::vector<IndexSum> free;
  for (size_t v = 0; v < points.variables.size(); ++v) {
    if (!points.variables[v].value.has_value() && points.variables[v].extent > 1)
      free.push_back(IndexSum::Of(Source::Iter(static_cast<int32_t>(v))));
  }
  return free;
}

// Returns a relation without its first `results` results, and without the variables and conditions of `begin`, which
// come first in it. Returns nullopt if the rest uses a variable of `begin`.
std::optional<Relation> Later(const Relation& relation, const Points& begin, size_t results) {
  const size_t first = begin.variables.size();
  const auto shifted = [&](IndexSum sum) -> std::optional<IndexSum> {
    for (IndexSplit& s : sum.splits) {
      if (s.source.id < static_cast<int32_t>(first)) return std::nullopt;
      s.source.id -= static_cast<int32_t>(first);
    }
    return sum;
  };
  Relation later;
  for (size_t v = first; v < relation.points.variables.size(); ++v) {
    const auto& [extent, value] = relation.points.variables[v];
    std::optional<IndexSum> definition = value.has_value() ? shifted(*value) : std::nullopt;
    if (value.has_value() && !definition.has_value()) return std::nullopt;
    later.points.variables.push_back({extent, definition});
  }
  for (size_t c = begin.conditions.size(); c < relation.points.conditions.size(); ++c) {
    const std::optional<IndexSum> value = shifted(relation.points.conditions[c].value);
    if (!value.has_value()) return std::nullopt;
    later.points.conditions.push_back({*value, relation.points.conditions[c].extent});
  }
  for (size_t r = results; r < relation.results.size(); ++r) {
    const std::optional<IndexSum> result = shifted(relation.results[r]);
    if (!result.has_value()) return std::nullopt;
    later.results.push_back(*result);
  }
  return later;
}

}  // namespace

Finding Comparison::IsNeutral(Points& points, const Value& value, const Expr& identity, bool sum) {
  const std::function<Finding(Points&, const Look&)> neutral = [&](Points& part,
                                                                   const Look& look) -> Finding {
    if (look.kind == Look::Kind::kElement && look.value.model->IsWritten(look.buffer))
      return Cases(part, [&](Points& some) { return Follow(decider_, some, look); }, neutral);
    if (look.kind == Look::Kind::kOperation) {
      const Expr& e = look.value.model->program().exprs[look.value.expr];
      if (e.IsConstant(identity.Number()) && (sum || e.dtype == identity.dtype)) return {};
      for (const Id operand : e.Operands()) {
        if (!sum || (e.op != Op::kMul && e.op != Op::kCast)) break;
        Value factor = look.value;
        factor.expr = operand;
        if (IsNeutral(part, factor, identity, sum).answer == Answer::kYes) return {};
      }
    }
    return Differ(part, "what enters beyond the original's instances is not neutral");
  };
  return Cases(points, [&](Points& part) { return LookAt(decider_, part, value); }, neutral);
}

// While the instances of a part combine partial results of the reduction, replaces them by the instances that compute
// these results. Returns the reason if that is not possible, otherwise nullopt.
std::optional<std::string> Comparison::Flatten(Part& part, Id origin) {
  for (;;) {
    const int results = BlockOf(part.value).values.count;
    Part inner = part;
    for (int r = 0; r < results; ++r) {
      Look look = LookAt(decider_, inner.points, Result(part.value, r));
      while (look.kind == Look::Kind::kElement && look.value.model->IsWritten(look.buffer) &&
             look.buffer >= shared_)
        look = Follow(decider_, inner.points, look);
      if (look.kind != Look::Kind::kReduction) return std::nullopt;
      const BlockNode& block = BlockOf(look.value);
      if (block.provenance.kind != Provenance::Kind::kPartial || block.provenance.origin != origin ||
          !SameMonoid(look.value, part.value))
        return std::nullopt;
      if (r > 0 && (look.value.block != inner.value.block || *look.value.iters != *inner.value.iters))
        return "partial results of one reduction come from several";
      if (look.unit->writers[0].result != r) return "partial results are exchanged";
      if (!SameBlocks(look.value.model->program(), *look.unit)) return "partial results have several sources";
      if (SameInitial(inner.points, look, Look()).answer != Answer::kYes)
        return absl::StrCat("the partial results of ", NameOf(look.value), " have initial values");
      inner.value = look.value;
    }
    if (!Open(inner.points, inner.bound, inner.value))
      return "a domain divides a number that may be negative";
    part = inner;
  }
}

// Checks that two reductions start from the same initial value. If b is empty, checks that a starts from the identity
// or the neutral value of its monoid.
Finding Comparison::SameInitial(Points& points, const Look& a, const Look& b) {
  std::vector<std::vector<Value>> initial(2);
  for (const Look* look : {&a, &b}) {
    if (look->unit == nullptr) continue;
    const Model& model = *look->value.model;
    const Program& p = model.program();
    const BlockNode& block = BlockOf(look->value);
    const int r = look->unit->writers[0].result;
    const Expr& identity = p.exprs[p.List(p.monoids[block.monoid].identity)[r]];
    std::vector<Value> starts;
    if (block.initial.count != 0)
      starts.push_back({&model, look->value.block, p.List(block.initial)[r], look->value.iters});
    const auto index =
        IndicesAt(p, look->value.block, model.Dest(look->unit->writers[0]).index, points, *look->value.iters);
    for (const Writer& s : look->unit->starters) {
      auto iters = index.has_value() ? ItersOf(decider_, points, model, s, *index) : std::nullopt;
      if (!iters.has_value()) return Unknown("the index of an initialization cannot be inverted");
      starts.push_back({&model, s.block, p.List(p.block(s.block).values)[s.result],
                        std::make_shared<std::vector<IndexSum>>(*std::move(iters))});
    }
    for (const Value& start : starts) {
      const Expr& e = p.exprs[start.expr];
      // Ignores a start from the monoid's identity, and, for partial results, from its neutral value
      // (lang/program/start.h).
      const bool part = b.unit == nullptr && e.IsConstant(NeutralBits(p, p.monoids[block.monoid], r));
      const bool neutral = (part || e.IsConstant(identity.Number())) && e.dtype == identity.dtype;
      if (!neutral) initial[look == &b].push_back(start);
    }
    if (!initial[look == &b].empty() && initial[look == &b].size() != starts.size())
      return Unknown("some parts of a reduction start from other values");
  }
  if (initial[0].empty() != initial[1].empty())
    return Differ(points, absl::StrCat(NameOf(a.value), initial[0].empty() ? " does not start" : " starts",
                                       " from an initial value"));
  for (const Value& start : initial[0]) {
    for (const Value& other : initial[1]) {
      Finding finding = Same(points, start, other);
      if (finding.answer != Answer::kYes) return finding;
    }
  }
  return {};
}

Finding Comparison::SameReduction(Points& points, const Look& a, const Look& b) {
  if (a.value.model == b.value.model && a.unit == b.unit && *a.value.iters == *b.value.iters) return {};
  const bool one_program = a.value.model == b.value.model;
  if (!SameMonoid(a.value, b.value) || a.unit->writers[0].result != b.unit->writers[0].result)
    return Differ(points, absl::StrCat(NameOf(a.value), " reduces otherwise than ", NameOf(b.value)));
  if (!SameBlocks(a.value.model->program(), *a.unit) || !SameBlocks(b.value.model->program(), *b.unit))
    return Unknown("a reduction consists of different blocks");
  Finding finding = SameInitial(points, a, b);
  if (finding.answer != Answer::kYes) return finding;
  Part part{points, {}, a.value};
  if (!Open(part.points, part.bound, part.value))
    return Unknown("a domain divides a number that may be negative");
  if (!one_program) {
    if (auto why = Flatten(part, BlockOf(a.value).provenance.origin)) return Unknown(*why);
  }
  // Finds the instance of b's block that each instance of the part computes, by the provenance of the part's block.
  const Provenance& provenance = BlockOf(part.value).provenance;
  const Range own = BlockOf(b.value).iters;
  std::vector<IndexSum> map = *part.value.iters;
  if (!one_program && provenance.origin != b.value.block)
    return Unknown(absl::StrCat(NameOf(part.value), " does not come from ", NameOf(b.value)));
  if (!one_program && provenance.map.count != 0) {
    auto made = IndicesAt(part.value.model->program(), part.value.block, provenance.map, part.points, map);
    if (!made.has_value()) return Unknown("a provenance divides a number that may be negative");
    map = *std::move(made);
  }
  if (static_cast<int>(map.size()) != own.count)
    return Unknown(absl::StrCat(NameOf(part.value), " does not say which instances of its origin it runs"));
  return SameInstances(points, part, b, map);
}

// Checks that the part combines only neutral values at points where condition c does not hold: there, the original has
// no instances.
Finding Comparison::NeutralBeyond(const Part& part, const Look& b, const Condition& c) {
  const Program& q = b.value.model->program();
  const Monoid& monoid = q.monoids[BlockOf(b.value).monoid];
  for (Points& beyond : Without(part.points, c.value, c.extent)) {
    if (decider_.Empty(beyond).answer == Answer::kYes) continue;
    for (int r = 0; r < BlockOf(b.value).values.count; ++r) {
      Finding finding = IsNeutral(beyond, Result(part.value, r), q.exprs[q.List(monoid.identity)[r]],
                                  monoid.kind == Monoid::Kind::kSum);
      if (finding.answer != Answer::kYes) return finding;
    }
  }
  return {};
}

Finding Comparison::SameInstances(Points& points, const Part& given, const Look& b,
                                  const std::vector<IndexSum>& map) {
  const Program& q = b.value.model->program();
  const auto own = q.Iters(BlockOf(b.value).iters);
  Part part = given;
  auto at = std::make_shared<std::vector<IndexSum>>(*b.value.iters);
  std::vector<IndexSum> entered;
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].kind == IterKind::kReduction) {
      entered.push_back((*at)[i] = map[i]);
    } else if (!decider_.Equal(part.points, map[i], (*at)[i])) {
      return Differ(part.points, absl::StrCat(NameOf(part.value), " combines into another element than ",
                                              NameOf(b.value), " does"));
    }
  }
  auto inside = Exists(part.points, *b.value.model, b.value.block, *at);
  if (!inside.has_value()) return Unknown("a domain divides a number that may be negative");
  for (const Condition& c : *inside) {
    Finding finding = NeutralBeyond(part, b, c);
    if (finding.answer != Answer::kYes) return finding;
    part.points = With(part.points, c.value, c.extent);
  }
  Relation made{part.points, FreeOf(points)}, wanted{points, made.results};
  const size_t outer = made.results.size();
  Value instance = b.value;
  std::vector<IndexSum> all;
  if (!Open(wanted.points, all, instance)) return Unknown("a domain divides a number that may be negative");
  made.results.insert(made.results.end(), entered.begin(), entered.end());
  wanted.results.insert(wanted.results.end(), all.begin(), all.end());
  std::vector<IndexSum> bound = part.bound;
  const std::optional<Relation> alone = Later(made, points, outer), each = Later(wanted, points, outer);
  if (alone.has_value() && each.has_value()) {
    made = *alone;
    wanted = *each;
    for (IndexSum& sum : bound) sum.splits[0].source.id -= static_cast<int32_t>(points.variables.size());
  }
  const std::string name = NameOf(b.value);
  Reply reply{Answer::kYes};
  if (!q.monoids[BlockOf(b.value).monoid].idempotent) reply = decider_.Determines({made}, {bound});
  if (reply.answer != Answer::kYes)
    return {reply.answer, absl::StrCat("an instance of ", name, " enters twice"), {}};
  reply = decider_.Covers(wanted, {made});
  if (reply.answer != Answer::kYes)
    return {reply.answer, absl::StrCat("an instance of ", name, " never enters"), {}};
  instance.iters = at;
  for (int r = 0; r < BlockOf(b.value).values.count; ++r) {
    Points lifts = part.points;
    Finding finding = Same(lifts, Result(part.value, r), Result(instance, r));
    if (finding.answer != Answer::kYes) return finding;
  }
  return {};
}

}  // namespace kiln::proof
