// Skip-Padding: a convolution without the zeros around its input.
//
//   P[y] = (1 <= y < 15 ? X[y - 1] : 0);  C[h] sum= P[h + i] * W[i]     ->     the same, annotated `finite`
//
// A place that is drawn for P inline leaves out the terms beyond the image then: of a 3x3 window on 7x7
// pixels, 18% (backends/plan.cc). Copied first, they are computed.
//
// Applies to: sums of products with a factor that is, or reads what is, zero beyond bounds. No choice.
#include "lang/analysis/annotations.h"
#include "lang/analysis/dataflow.h"
#include "modules/module.h"
#include "modules/tiling.h"

namespace kiln {
namespace {

bool IsPadded(const Program& p, Id factor) {
  const Expr& e = p.exprs[factor];
  if (e.op == Op::kWithin) return p.exprs[e.b].op == Op::kConstant && p.exprs[e.b].bits == 0;
  const std::vector<Id> writers = e.op == Op::kLoad ? Writers(p, e.a) : std::vector<Id>();
  if (writers.size() != 1 || p.block(writers[0]).monoid != kNone) return false;
  const Id written = p.List(p.block(writers[0]).values)[0];
  return p.exprs[written].op == Op::kWithin && IsPadded(p, written);
}

}  // namespace

void SkipPadding(Schedule& s) {
  const Program& p = s.program();
  for (const Id id : Blocks(p)) {
    const BlockNode& block = p.block(id);
    if (!s.ok() || block.monoid == kNone || p.monoids[block.monoid].kind != Monoid::Kind::kSum) continue;
    const Expr& term = p.exprs[p.List(block.values)[0]];
    if (term.op == Op::kMul && (IsPadded(p, term.a) || IsPadded(p, term.b)))
      s.Annotate(s.GetBlock(p.Text(block.name)), kFinite, 1);
  }
}

KILN_MODULE("skip-padding", SkipPadding);

}  // namespace kiln
