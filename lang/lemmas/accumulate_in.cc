// accumulate-in, a lemma
//
//   for i: for k: C[i] sum= f(i, k)   ->   for i: for k: acc[i] sum= wide(f(i, k))
//                                          for i: C[i] = narrow(acc[i])
//
// The identity: narrow(⊕ wide(x_k)) = ⊕ x_k in exact arithmetic, for any monoid of one result. For integers, minima and
// maxima it holds bit for bit, because widening is exact and narrowing is a homomorphism of sums and products modulo
// 2^n. For sums and products of floats, the left side rounds to the narrow type once and the right side rounds each of
// its n combinations. The two sides differ by at most about ε·n·Σ|x_k|, for products ε·n·Π|x_k| (N. Higham, Accuracy
// and Stability of Numerical Algorithms, section 4.2; ε of the narrow type). This is within the tolerance of the
// original (ToleranceFor in validator/numeric/tolerance.h). The block must be alone in its nest, alone write its
// destination, and index each dimension of it by an iter of its own.
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/placement.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

bool IsWider(DType narrow, DType wide) {
  const auto is_int = [](DType t) {
    return t == DType::kI8 || t == DType::kU8 || t == DType::kI16 || t == DType::kI32 || t == DType::kI64;
  };
  if (SizeOf(wide) <= SizeOf(narrow)) return false;
  return (IsFloat(narrow) && IsFloat(wide)) || (is_int(narrow) && is_int(wide));
}

// True if the block has no domain, and each dimension of the destination is indexed over its whole extent by an iter of
// its own, in any order.
bool WritesEachElementOnce(const Program& p, const BlockNode& b) {
  const Access dest = p.Accesses(b.dests)[0];
  const auto shape = p.Dims(p.buffers[dest.buffer].shape);
  std::vector<bool> used(b.iters.count, false);
  for (int d = 0; d < dest.index.count; ++d) {
    const IndexSum sum = p.SumOf(p.List(dest.index)[d]);
    if (sum.splits.size() != 1 || !(sum == IndexSum::Of(Source::Iter(sum.splits[0].source.id)))) return false;
    const int iter = sum.splits[0].source.id;
    if (used[iter] || p.Iters(b.iters)[iter].extent.Known() != shape[d].Known()) return false;
    used[iter] = true;
  }
  return b.domain.count == 0;
}

absl::Status AccumulateIn(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0);
  const BlockNode old = p.block(block);
  const std::optional<DType> wide = ParseDType(call.Text(0));
  if (!wide.has_value())
    return absl::InvalidArgumentError(absl::StrCat("there is no dtype \"", call.Text(0), "\""));
  if (old.monoid == kNone)
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), " is not a reduction"));
  const Monoid::Kind kind = p.monoids[old.monoid].kind;
  if (kind == Monoid::Kind::kCustom || old.dests.count != 1)
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), " has several results"));
  const Access dest = p.Accesses(old.dests)[0];
  const DType narrow = p.buffers[dest.buffer].dtype;
  if (!IsWider(narrow, *wide)) {
    return absl::FailedPreconditionError(absl::StrCat(ToString(*wide), " is not wider than ",
                                                      ToString(narrow), ", in which ", Describe(p, block),
                                                      " reduces"));
  }
  if (!WritesEachElementOnce(p, old))
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), " does not write each element of ",
                                                      p.Text(p.buffers[dest.buffer].name),
                                                      " at its spatial iters"));
  const Id nest = NestOf(p, block);
  for (const Id other : BlocksBelow(p, nest)) {
    if (other != block)
      return absl::FailedPreconditionError(absl::StrCat(Describe(p, other), " is in the same nest"));
  }
  if (Writers(p, dest.buffer).size() != 1)
    return absl::FailedPreconditionError("the destination has other writers");

  const auto shape = p.Dims(p.buffers[dest.buffer].shape);
  const std::string name =
      p.FreshName(absl::StrCat(p.Text(p.buffers[dest.buffer].name), ".", ToString(*wide)));
  const Id acc =
      p.AddBuffer(name, *wide, std::vector<Extent>(shape.begin(), shape.end()), Role::kTemporary, {});
  const auto cast = [&](DType to, Id value) { return p.AddExpr({Op::kCast, to, value}); };
  const auto widened = [&](Range list) {
    return list.count == 0 ? Range() : p.AddList({cast(*wide, p.lists[list.begin])});
  };
  BlockNode reduction = old;
  reduction.values = widened(old.values);
  reduction.initial = widened(old.initial);
  reduction.monoid = p.AddMonoid(kind, *wide);
  reduction.dests = {static_cast<int32_t>(p.accesses.size()), 1};
  p.accesses.push_back({acc, dest.index});
  p.block(block) = reduction;

  const Id rounds = AddCopyBlock(p, absl::StrCat(p.Text(old.name), ".round"), acc, dest.buffer);
  const Id load = p.List(p.block(rounds).values)[0];
  const Range value = p.AddList({cast(narrow, load)});
  p.block(rounds).values = value;
  p.block(rounds).provenance = {Provenance::Kind::kCompute, rounds, {}};
  p.InsertAfter(nest, NestOver(p, rounds, WholeRanges(p, rounds), false));
  call.Return(rounds);
  return absl::OkStatus();
}

const Primitive kAccumulateIn{
    .name = "accumulate-in",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {{"dtype", std::string("f32")}},
    .result = HandleKind::kBlock,
    .result_names = "rounds",
    .lemma = true,
    .doc =
        "Reduces in a wider type of the same kind and rounds once at the end. A lemma: later steps must "
        "preserve its result.\n"
        "for i: for k: C[i] sum= f(i, k)\n->\n"
        "for i: for k: acc[i] sum= f32(f(i, k))\n"
        "for i: C[i] = f16(acc[i])\n"
        "Does not apply after a step that transforms the program, if the type is not wider, or if the "
        "block does not write each element at its spatial iters.",
    .apply = AccumulateIn,
};
KILN_PRIMITIVE(kAccumulateIn);

}  // namespace
}  // namespace kiln
