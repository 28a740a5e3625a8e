#include <algorithm>

#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/program/layout.h"
#include "validator/numeric/tolerance.h"

namespace kiln {
namespace {

constexpr int kMaxSets = 32;
constexpr double kElements = 1 << 22, kFlops = 1 << 26;  // limits for all sets together

bool ReadsExtremum(const Program& p, Id block) {
  const auto is_extremum = [&](Id producer) {
    const Id monoid = p.block(producer).monoid;
    if (monoid == kNone) return false;
    const Monoid::Kind kind = p.monoids[monoid].kind;
    const Id of = p.List(p.block(producer).values)[0];
    return IsFloat(p.exprs[of].dtype) &&
           (kind == Monoid::Kind::kMin || kind == Monoid::Kind::kMax || kind == Monoid::Kind::kCustom);
  };
  return std::ranges::any_of(Producers(p, block), is_extremum);
}

bool CastsToInteger(const Program& p, Id block) {
  return std::ranges::any_of(BodyExprs(p, block), [&](Id id) {
    const Expr& e = p.exprs[id];
    return (e.op == Op::kCast || e.op == Op::kCastUnsigned) && IsFloat(p.exprs[e.operand(0)].dtype) &&
           !IsFloat(e.dtype);
  });
}

}  // namespace

int StressSets(const Program& original) {
  const std::vector<Id> blocks = Blocks(original);
  if (std::ranges::none_of(blocks, [&](Id b) { return ReadsExtremum(original, b); }) ||
      std::ranges::any_of(blocks, [&](Id b) { return CastsToInteger(original, b); }))
    return 0;
  double elements = 0;
  for (const Id id : original.parameters) elements += static_cast<double>(ElementsOf(original, id));
  const double sets = std::min(kElements / std::max(1.0, elements), kFlops / std::max(1.0, Flops(original)));
  return static_cast<int>(std::clamp<double>(sets, 1, kMaxSets));
}

}  // namespace kiln
