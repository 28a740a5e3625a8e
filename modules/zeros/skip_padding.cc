// Skip-Padding: a convolution without the zeros around its input.
//
//   P[y] = (1 <= y < 15 ? X[y - 1] : 0);  C[h] sum= P[h + i] * W[i]     ->     the same, assume-finite
//
// A place that is drawn for P inline leaves out the terms beyond the image then: of a 3x3 window on 7x7
// pixels, 18% (backends/lower/passes/plan.cc). Copied first, they are computed.
//
// Applies to: sums of products with a factor that is, or reads what is, zero beyond bounds, while nothing was
// transformed yet: with skip-zeros it is the first of a space. No choice.
#include "lang/analysis/dataflow.h"
#include "modules/default_modules.h"
#include "modules/module.h"

namespace kiln {
namespace {

// Copies of what is padded are.
bool IsPadded(const Program& p, Id factor) {
  constexpr int kMostCopies = 4;
  for (int copies = 0; copies < kMostCopies && p.exprs[factor].op == Op::kLoad; ++copies) {
    const std::vector<Id> writers = Writers(p, p.exprs[factor].AsLoad().buffer);
    if (writers.size() != 1 || p.block(writers[0]).monoid != kNone) return false;
    factor = p.List(p.block(writers[0]).values)[0];
  }
  const Expr& e = p.exprs[factor];
  return e.op == Op::kWithin && p.exprs[e.AsWithin().otherwise].IsConstant(0);
}

}  // namespace

void SkipPadding(Schedule& s) {
  const Program& p = s.program();
  for (const Id id : Blocks(p)) {
    const BlockNode& block = p.block(id);
    if (!s.ok() || block.monoid == kNone || p.monoids[block.monoid].kind != Monoid::Kind::kSum) continue;
    const Expr& term = p.exprs[p.List(block.values)[0]];
    if (term.op == Op::kMul && (IsPadded(p, term.operand(0)) || IsPadded(p, term.operand(1))))
      s.AssumeFinite(s.GetBlock(p.Text(block.name)));
  }
}

KILN_MODULE("skip-padding", SkipPadding);

}  // namespace kiln
