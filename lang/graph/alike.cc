#include "lang/graph/alike.h"

#include "lang/analysis/dataflow.h"

namespace kiln {
namespace {

bool SameGuard(const Program& p, const Expr& x, const Expr& y, const MayDiffer& may_differ) {
  const Range a = x.AsWithin().marks, b = y.AsWithin().marks;
  if (!SameIndex(p, a, b) || !may_differ.guard(a)) return false;
  for (int i = 0; i < a.count; ++i) {
    if (!(p.marks[p.List(a)[i]].extent == p.marks[p.List(b)[i]].extent)) return false;
  }
  return true;
}

}  // namespace

bool IsSimple(const Program& program, Id block) {
  const BlockNode& b = program.block(block);
  if (b.domain.count != 0 || b.dests.count != 1 || b.values.count != 1 || program.nodes[block].first != kNone)
    return false;
  const Id result = ResultOf(program, block);
  return program.buffers[result].role == Role::kTemporary && Writers(program, result).size() == 1;
}

bool IsSimpleSum(const Program& program, Id block) {
  const BlockNode& b = program.block(block);
  return b.monoid != kNone && program.monoids[b.monoid].kind == Monoid::Kind::kSum && !b.accumulates &&
         IsSimple(program, block);
}

bool IsSimpleStore(const Program& program, Id block) {
  return program.block(block).monoid == kNone && IsSimple(program, block);
}

Id ResultOf(const Program& program, Id block) {
  return program.Accesses(program.block(block).dests)[0].buffer;
}
Range ResultIndex(const Program& program, Id block) {
  return program.Accesses(program.block(block).dests)[0].index;
}

bool SameIndex(const Program& program, Range a, Range b) {
  if (a.count != b.count) return false;
  for (int d = 0; d < a.count; ++d) {
    if (!(program.SumOf(program.List(a)[d]) == program.SumOf(program.List(b)[d]))) return false;
  }
  return true;
}

bool SameExpr(const Program& program, Id a, Id b, const MayDiffer& may_differ) {
  const Expr &x = program.exprs[a], &y = program.exprs[b];
  if (x.op != y.op || x.dtype != y.dtype) return false;
  if (x.op == Op::kLoad) return may_differ.load(x, y);
  if (x.op == Op::kConstant) return x.Number() == y.Number();
  if (x.op < Op::kWithin) return false;
  if (x.op == Op::kWithin && !SameGuard(program, x, y, may_differ)) return false;
  for (size_t i = 0; i < x.Operands().size(); ++i) {
    if (!SameExpr(program, x.Operands()[i], y.Operands()[i], may_differ)) return false;
  }
  return true;
}

}  // namespace kiln
