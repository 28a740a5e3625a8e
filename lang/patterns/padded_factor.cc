#include "lang/patterns/padded_factor.h"

#include "lang/analysis/dataflow.h"

namespace kiln {
namespace {

// True if the factor is 0 where some condition on its indices fails (kWithin), as in a padded buffer. If the factor is
// a load, looks at the value that is stored up to four blocks before, with only copies in between.
bool IsPadded(const Program& p, Id factor) {
  constexpr int kMaxCopies = 4;
  for (int copies = 0; copies < kMaxCopies && p.exprs[factor].op == Op::kLoad; ++copies) {
    const std::vector<Id> writers = Writers(p, p.exprs[factor].AsLoad().buffer);
    if (writers.size() != 1 || p.block(writers[0]).monoid != kNone) return false;
    factor = p.List(p.block(writers[0]).values)[0];
  }
  const Expr& e = p.exprs[factor];
  return e.op == Op::kWithin && p.exprs[e.AsWithin().otherwise].IsConstant(0);
}

}  // namespace

bool HasPaddedFactor(const Program& p, Id id) {
  const BlockNode& block = p.block(id);
  if (block.monoid == kNone || p.monoids[block.monoid].kind != Monoid::Kind::kSum) return false;
  const Expr& term = p.exprs[p.List(block.values)[0]];
  return term.op == Op::kMul && (IsPadded(p, term.operand(0)) || IsPadded(p, term.operand(1)));
}

}  // namespace kiln
