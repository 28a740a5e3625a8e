#include "lang/patterns/contraction.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/placement.h"
#include "lang/analysis/region.h"
#include "lang/patterns/match.h"

namespace kiln {
namespace {

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

void AddIters(const Program& p, Range marks, std::vector<bool>& used) {
  for (const Id mark : p.List(marks)) {
    for (const IndexSplit& split : p.Splits(p.marks[mark].splits)) used[split.source.id] = true;
  }
}

// Sets `used` for each iter that an expression depends on.
void FindIters(const Program& p, Id expr, std::vector<bool>& used) {
  const Expr& e = p.exprs[expr];
  if (e.op == Op::kLoad) return AddIters(p, e.AsLoad().index, used);
  if (e.op == Op::kWithin) AddIters(p, e.AsWithin().marks, used);
  if (e.op == Op::kIndex) {
    for (const IndexSplit& split : p.Splits(p.marks[e.AsIndex()].splits)) used[split.source.id] = true;
    return;
  }
  for (const Id operand : e.Operands()) FindIters(p, operand, used);
}

Id WithoutCasts(const Program& p, Id expr) {
  while (p.exprs[expr].op == Op::kCast || p.exprs[expr].op == Op::kCastUnsigned)
    expr = p.exprs[expr].operand(0);
  return expr;
}

// True if an expression of a contraction and one of an intrinsic's description apply the same operations to the same
// dtypes. The comparison ends at the contraction's factors `first` and `second`, which must be loads in the
// description.
bool SameBody(const Program& p, Id a, Id first, Id second, const Program& d, Id b) {
  const Expr &x = p.exprs[a], &y = d.exprs[b];
  if (x.dtype != y.dtype) return false;
  if (a == first || a == second) return y.op == Op::kLoad;
  if (x.op != y.op || (x.op == Op::kConstant && x.Number() != y.Number())) return false;
  for (size_t i = 0; i < x.Operands().size(); ++i) {
    if (!SameBody(p, x.Operands()[i], first, second, d, y.Operands()[i])) return false;
  }
  return true;
}

}  // namespace

Id LoadOfFactor(const Program& program, Id factor) {
  while (program.exprs[factor].op == Op::kWithin) {
    const auto [marks, value, otherwise] = program.exprs[factor].AsWithin();
    if (program.exprs[otherwise].op != Op::kConstant) return kNone;
    factor = value;
  }
  return program.exprs[factor].op == Op::kLoad ? factor : kNone;
}

absl::StatusOr<Contraction> AsContraction(const Program& program, Id block) {
  const BlockNode& b = program.block(block);
  const Expr* const value = b.values.count == 1 ? &program.exprs[program.List(b.values)[0]] : nullptr;
  if (b.monoid == kNone || program.monoids[b.monoid].kind != Monoid::Kind::kSum || b.accumulates ||
      b.initial.count != 0 || b.domain.count != 0 || program.nodes[block].first != kNone ||
      value == nullptr || value->op != Op::kMul) {
    return No(absl::StrCat(Describe(program, block), " is not a sum of products of two factors"));
  }
  Contraction c{
      WithoutCasts(program, value->operand(0)), WithoutCasts(program, value->operand(1)), {}, {}, {}, {}};
  if (LoadOfFactor(program, c.a) == kNone || LoadOfFactor(program, c.b) == kNone)
    return No(absl::StrCat("a factor of ", Describe(program, block), " is not a read"));
  if (c.a == c.b) return No(absl::StrCat("the factors of ", Describe(program, block), " are one"));
  const auto iters = program.Iters(b.iters);
  std::vector<bool> in_a(iters.size()), in_b(iters.size()), in_c(iters.size());
  FindIters(program, c.a, in_a);
  FindIters(program, c.b, in_b);
  for (const Id mark : program.List(program.Accesses(b.dests)[0].index)) {
    if (program.marks[mark].splits.count == 0) continue;
    const std::optional<SimpleIndex> simple = AsSimpleIndex(program, mark);
    if (!simple.has_value() || in_c[simple->iter])
      return No(
          absl::StrCat("an index of the result of ", Describe(program, block), " is not a distinct iter"));
    in_c[simple->iter] = true;
  }
  for (int i = 0; i < static_cast<int>(iters.size()); ++i) {
    const bool spatial = iters[i].kind == IterKind::kSpatial, unit = iters[i].extent.Known() == 1;
    if (!unit && spatial != in_c[i])
      return No(absl::StrCat("iter ", program.Text(iters[i].name), " does not index the result"));
    if (!unit && (spatial ? !in_a[i] && !in_b[i] : !in_a[i] || !in_b[i])) {
      return No(absl::StrCat("iter ", program.Text(iters[i].name), " does not index ",
                             spatial ? "any factor" : "both factors"));
    }
    (!spatial ? c.k : in_a[i] && in_b[i] ? c.batch : in_b[i] ? c.n : c.m).push_back(i);
  }
  return c;
}

std::vector<const IntrinsicFamily*> MatchContraction(const Program& program, Id block,
                                                     absl::Span<const IntrinsicFamily* const> families) {
  std::vector<const IntrinsicFamily*> fits;
  const absl::StatusOr<Contraction> contraction = AsContraction(program, block);
  if (!contraction.ok()) return fits;
  for (const IntrinsicFamily* const family : families) {
    const Program& d = DescriptionOf(*FindIntrinsic(family->compute));
    const BlockNode& described = d.block(BlockOf(d));
    if (described.monoid == kNone || d.monoids[described.monoid].kind != Monoid::Kind::kSum) continue;
    if (SameBody(program, program.List(program.block(block).values)[0], contraction->a, contraction->b, d,
                 d.List(described.values)[0])) {
      fits.push_back(family);
    }
  }
  return fits;
}

}  // namespace kiln
