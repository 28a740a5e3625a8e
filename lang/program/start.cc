#include "lang/program/start.h"

#include "absl/base/casts.h"

namespace kiln {

bool IsFloatSum(const Program& p, const Monoid& monoid) {
  return monoid.kind == Monoid::Kind::kSum && IsFloat(p.exprs[p.List(monoid.identity)[0]].dtype);
}

int64_t NeutralBits(const Program& p, const Monoid& monoid, int result) {
  return IsFloatSum(p, monoid) ? absl::bit_cast<int64_t>(-0.0)
                               : p.exprs[p.List(monoid.identity)[result]].Number();
}

bool StartsNeutral(const Program& p, const BlockNode& reduction) {
  const Monoid& monoid = p.monoids[reduction.monoid];
  if (reduction.initial.count == 0) return !IsFloatSum(p, monoid);
  for (int r = 0; r < reduction.initial.count; ++r) {
    const Expr& start = p.exprs[p.List(reduction.initial)[r]];
    if (!start.IsConstant(NeutralBits(p, monoid, r))) return false;
  }
  return true;
}

}  // namespace kiln
