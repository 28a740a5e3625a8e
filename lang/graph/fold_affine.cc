#include "lang/graph/fold_affine.h"

#include <map>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/region.h"
#include "lang/analysis/reshape.h"
#include "lang/graph/constant_exprs.h"
#include "lang/schedule/inline_block.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

// An affine function scale * v + shift of a value v. The two expressions do not contain v. A scale of kNone means 1, a
// shift of kNone means 0.
struct Affine {
  Id scale = kNone, shift = kNone;
};

bool IsPlainStore(const Program& p, Id block) {
  const BlockNode& b = p.block(block);
  return b.monoid == kNone && b.domain.count == 0 && b.dests.count == 1 && p.nodes[block].first == kNone;
}

bool IsLiteralZero(const Program& p, Id expr) {
  return p.exprs[expr].op == Op::kConstant && (p.exprs[expr].Number() << 1) == 0;
}

class Folder {
 public:
  explicit Folder(Program& program) : p_(program), constants_(program) {}

  int Run() {
    int count = 0;
    for (const Id block : Blocks(p_)) {
      if (p_.IsBlock(block) && Find(block)) count += Fold() || AddStartLater() ? 1 : 0;
    }
    return count;
  }

 private:
  // Returns true if the block sums products of floats into a temporary that nothing else writes. One factor must be the
  // block's only load of a constant that the caller gives. The block must have no domain marks and no blocks within,
  // and its start value, if any, must read constants alone. Then product_ is the block, factor_ the load of the
  // constant, and sums_ the temporary.
  bool Find(Id block) {
    const BlockNode& b = p_.block(block);
    if (b.monoid == kNone || p_.monoids[b.monoid].kind != Monoid::Kind::kSum || b.accumulates ||
        b.domain.count != 0 || b.values.count != 1 || p_.nodes[block].first != kNone)
      return false;
    const Expr& value = p_.exprs[p_.List(b.values)[0]];
    sums_ = p_.Accesses(b.dests)[0].buffer;
    if (value.op != Op::kMul || !IsFloat(value.dtype) || p_.buffers[sums_].role != Role::kTemporary)
      return false;
    if (b.initial.count != 0 && !constants_.ReadsOnlyConstants(p_.List(b.initial)[0])) return false;
    if (Writers(p_, sums_).size() != 1) return false;
    product_ = block;
    factor_ = kNone;
    for (const Id operand : value.Operands()) {
      const Expr& e = p_.exprs[operand];
      if (e.op == Op::kLoad && constants_.IsGiven(e.AsLoad().buffer) &&
          LoadsOf(p_, block, e.AsLoad().buffer).size() == 1)
        factor_ = operand;
    }
    return factor_ != kNone;
  }

  // Returns the only block that reads the buffer, if it is a store that reads each element once; else kNone.
  Id OnlyReader(Id buffer) const {
    const std::vector<Id> readers = Readers(p_, buffer);
    if (readers.size() != 1 || !IsPlainStore(p_, readers[0]) || GathersFrom(p_, readers[0], buffer))
      return kNone;
    return ItersByElement(p_, readers[0], buffer).has_value() ? readers[0] : kNone;
  }

  Id Make(Op op, Id a, Id b) { return p_.AddExpr({op, p_.exprs[a].dtype, a, b}); }
  Id Plus(Id a, Id b) { return a == kNone ? b : b == kNone ? a : Make(Op::kAdd, a, b); }
  Id Times(Id a, Id b) { return a == kNone || b == kNone ? kNone : Make(Op::kMul, a, b); }
  Id Negated(Id a) { return a == kNone ? kNone : p_.AddExpr({Op::kNeg, p_.exprs[a].dtype, a}); }
  Id One(Id like) { return p_.AddExpr(Expr::Constant(p_.exprs[like].dtype, absl::bit_cast<int64_t>(1.0))); }

  // True if the expression reads the buffer of the product's sums (sums_).
  bool Holds(Id expr) const {
    const Expr& e = p_.exprs[expr];
    return (e.op == Op::kLoad && e.AsLoad().buffer == sums_) ||
           absl::c_any_of(e.Operands(), [&](Id o) { return Holds(o); });
  }

  std::optional<Affine> AffineOf(Id expr) {
    const Expr e = p_.exprs[expr];
    if (e.op == Op::kLoad) return Affine{};
    if (e.op != Op::kAdd && e.op != Op::kSub && e.op != Op::kMul && e.op != Op::kDiv && e.op != Op::kNeg)
      return std::nullopt;
    const int with = Holds(e.operand(0)) ? 0 : 1;
    const std::optional<Affine> inner = AffineOf(e.operand(with));
    if (!inner.has_value()) return std::nullopt;
    const auto [scale, shift] = *inner;
    if (e.op == Op::kNeg) return Affine{Negated(scale == kNone ? One(expr) : scale), Negated(shift)};
    const Id other = e.operand(1 - with);
    if (!constants_.ReadsOnlyConstants(other)) return std::nullopt;
    switch (e.op) {
      case Op::kAdd:
        return Affine{scale, Plus(shift, other)};
      case Op::kSub:
        if (with == 0) return Affine{scale, shift == kNone ? Negated(other) : Make(Op::kSub, shift, other)};
        return Affine{Negated(scale == kNone ? One(expr) : scale),
                      shift == kNone ? other : Make(Op::kSub, other, shift)};
      case Op::kMul:
        return Affine{scale == kNone ? other : Make(Op::kMul, scale, other), Times(shift, other)};
      default:  // a quotient
        if (with != 0) return std::nullopt;
        return Affine{Make(Op::kDiv, scale == kNone ? One(expr) : scale, other),
                      shift == kNone ? kNone : Make(Op::kDiv, shift, other)};
    }
  }

  // Returns the largest part of the reader's value that is scale * sum + shift, where scale and shift read constants
  // alone, and that holds the only read of the product's sums: at least this read. Returns kNone unless the reader
  // reads the sums exactly once.
  Id AffinePart(Id reader) {
    const std::vector<Id> loads = LoadsOf(p_, reader, sums_), body = BodyExprs(p_, reader);
    if (loads.size() != 1) return kNone;
    Id part = loads[0];
    while (true) {
      std::vector<Id> users;
      for (const Id expr : body) {
        if (absl::c_linear_search(p_.exprs[expr].Operands(), part)) users.push_back(expr);
      }
      if (users.size() != 1 || !AffineOf(users[0]).has_value()) return part;
      part = users[0];
    }
  }

  // Inlines blocks that only apply affine functions to the sums into their readers. Returns the block that then reads
  // the sums, or kNone if that is not exactly one store that reads each sum once.
  Id Reader() {
    Id reader = OnlyReader(sums_);
    while (reader != kNone && p_.block(reader).initial.count == 0) {
      const Id result = p_.Accesses(p_.block(reader).dests)[0].buffer;
      if (p_.buffers[result].role != Role::kTemporary || AffinePart(reader) != ValueOf(reader)) break;
      const Id next = OnlyReader(result);
      if (next == kNone || !KeepsOrder(p_, next) ||
          Writers(p_, p_.Accesses(p_.block(next).dests)[0].buffer).size() != 1 ||
          !InlineBlock(p_, reader).ok())
        break;
      reader = next;
    }
    return reader;
  }

  Id ValueOf(Id block) const { return p_.List(p_.block(block).values)[0]; }

  bool Fold() {
    const Id reader = Reader();
    if (reader == kNone) return false;
    const Id part = AffinePart(reader);
    if (part == kNone) return false;
    Affine affine = *AffineOf(part);
    const Id start = StartFor(reader);
    if (start == kNone && p_.block(product_).initial.count != 0) return false;
    if (start != kNone && !IsLiteralZero(p_, start))
      affine.shift = Plus(affine.scale == kNone ? start : Make(Op::kMul, start, affine.scale), affine.shift);
    const bool starts = start != kNone && !IsLiteralZero(p_, start);
    if (affine.scale == kNone && (affine.shift == kNone || (!starts && !IsComputed(affine.shift))))
      return false;
    if (affine.scale != kNone && !FoldScale(reader, affine.scale)) return false;
    if (starts) p_.block(product_).initial = {};
    const Id load = LoadsOf(p_, reader, sums_)[0];
    const Id now = Plus(load, affine.shift == kNone ? kNone : Shift(reader, affine.shift));
    ReplacePart(reader, part, now);
    return true;
  }

  // Adds a store that adds the start value to the finished sums, so that the reduction itself starts from 0. This
  // serves sums that could not be folded with their reader. Returns false if there is no start value, if it is a
  // number, or if it cannot be moved.
  bool AddStartLater() {
    const BlockNode b = p_.block(product_);
    if (b.initial.count == 0 || p_.exprs[p_.List(b.initial)[0]].op == Op::kConstant) return false;
    const Range written = p_.Accesses(b.dests)[0].index;
    std::map<int, int> dims;  // by iter of the product: the dimension of the sums that it walks
    std::vector<Iter> iters;
    std::vector<int64_t> extents;
    std::vector<IndexSum> index;
    for (int d = 0; d < written.count; ++d) {
      const std::optional<SimpleIndex> simple = AsSimpleIndex(p_, p_.List(written)[d]);
      if (!simple.has_value() || simple->offset != 0 || !dims.emplace(simple->iter, d).second) return false;
      iters.push_back(p_.iters[b.iters.begin + simple->iter]);
      extents.push_back(iters.back().extent.Known());
      index.push_back(IndexSum::Of(Source::Iter(d)));
    }
    const Id start = p_.List(b.initial)[0];
    for (const int iter : ItersOf(p_, start))
      if (!dims.contains(iter)) return false;
    const auto shape = p_.Dims(p_.buffers[sums_].shape);
    const std::vector<Extent> same(shape.begin(), shape.end());
    const Id raw = constants_.Add(absl::StrCat(p_.Text(p_.buffers[sums_].name), ".sum"),
                                  p_.buffers[sums_].dtype, same, /*is_constant=*/false);
    const auto dim = [&](int i) { return IndexSum::Of(Source::Iter(dims[i])); };
    const Id shift = BodyRewriter(p_, nullptr, dim, extents).Expression(start);
    std::vector<int32_t> marks;
    for (size_t d = 0; d < same.size(); ++d) marks.push_back(p_.AddMark(index[d], same[d]));
    const Range list = p_.AddList(marks);
    const Id load = p_.AddExpr(Expr::Load(p_.buffers[raw].dtype, raw, list));
    const Id nest = Nest(product_);
    constants_.AddStore("shift", iters, sums_, index, Plus(load, shift), nest);
    const Id store = p_.nodes[nest].prev;
    p_.Detach(nest);
    p_.InsertBefore(store, nest);
    p_.accesses[p_.block(product_).dests.begin].buffer = raw;
    p_.block(product_).initial = {};
    return true;
  }

  bool IsComputed(Id expr) const {
    return p_.exprs[expr].op != Op::kLoad && p_.exprs[expr].op != Op::kConstant;
  }

  // Returns the start value of the sums in terms of the reader's iters; kNone if there is none, or if it cannot be
  // expressed.
  Id StartFor(Id reader) {
    const BlockNode& b = p_.block(product_);
    if (b.initial.count == 0) return kNone;
    const Range read = p_.exprs[LoadsOf(p_, reader, sums_)[0]].AsLoad().index;
    const Range written = p_.Accesses(b.dests)[0].index;
    std::map<int, IndexSum> iters;
    for (int d = 0; d < written.count; ++d) {
      const std::optional<SimpleIndex> simple = AsSimpleIndex(p_, p_.List(written)[d]);
      if (simple.has_value() && simple->offset == 0) iters[simple->iter] = p_.SumOf(p_.List(read)[d]);
    }
    const Id start = p_.List(b.initial)[0];
    for (const int iter : ItersOf(p_, start))
      if (!iters.contains(iter)) return kNone;
    return BodyRewriter(
               p_, nullptr, [&](int i) { return iters[i]; }, IterExtents(p_, reader))
        .Expression(start);
  }

  // Multiplies the weights by the scale of the sums: adds the scaled weights and makes the product read them. Returns
  // false if the scale depends on more than the weights' indices, or cannot be expressed in them.
  bool FoldScale(Id reader, Id scale) {
    const std::vector<int64_t> extents = IterExtents(p_, product_);
    const Range written = p_.Accesses(p_.block(product_).dests)[0].index;
    const auto by_element = ItersByElement(p_, reader, sums_);
    std::vector<IndexSum> iters;  // the reader's, in terms of the product's
    for (const IndexSum& iter : *by_element) {
      const auto sum = Substitute(
          iter, [&](Source s) { return std::optional<IndexSum>(p_.SumOf(p_.List(written)[s.id])); },
          [&](Source s) { return extents[s.id]; });
      if (!sum.has_value()) return false;
      iters.push_back(*sum);
    }
    const auto at_product = [&](int i) { return iters[i]; };
    if (!CanSubstitute(p_, scale, at_product, extents)) return false;
    const Id here = BodyRewriter(p_, nullptr, at_product, extents).Expression(scale);

    const auto [weights, index] = p_.exprs[factor_].AsLoad();
    std::map<int, int> dims;  // by iter of the product: the dimension of the weights that it walks
    for (int d = 0; d < index.count; ++d) {
      const std::optional<SimpleIndex> simple = AsSimpleIndex(p_, p_.List(index)[d]);
      if (simple.has_value() && simple->offset == 0) dims[simple->iter] = d;
    }
    for (const int iter : ItersOf(p_, here)) {
      const auto dim = dims.find(iter);
      if (dim == dims.end() || p_.Dims(p_.buffers[weights].shape)[dim->second].Known() != extents[iter])
        return false;
    }
    const auto dim = [&](int i) { return IndexSum::Of(Source::Iter(dims[i])); };
    const Id scaled = constants_.Scaled(weights, dim, here, Nest(product_));
    const Id load = p_.AddExpr(Expr::Load(p_.exprs[factor_].dtype, scaled, index));
    BodyRewriter body(
        p_, [&](const Expr& e) { return e.AsLoad().buffer == weights ? load : kNone; },
        [](int i) { return IndexSum::Of(Source::Iter(i)); }, extents);
    const Range values = body.Expressions(p_.block(product_).values);
    p_.block(product_).values = values;
    return true;
  }

  // Returns the expression by which the reader gets the shift: a load from a buffer that is computed once. Returns the
  // shift itself if it computes nothing, or if that buffer would have more elements than the largest given constant
  // that it reads.
  Id Shift(Id reader, Id shift) {
    if (!IsComputed(shift)) return shift;
    const auto all = p_.Iters(p_.block(reader).iters);
    std::vector<Iter> iters;
    std::vector<int64_t> extents;
    std::vector<int32_t> index;
    std::map<int, int> position;
    int64_t elements = 1;
    for (const int i : ItersOf(p_, shift)) {
      position[i] = static_cast<int>(iters.size());
      iters.push_back(all[i]);
      extents.push_back(all[i].extent.Known());
      elements *= extents.back();
    }
    if (elements > constants_.LargestGiven(shift)) return shift;
    for (const auto& [i, at] : position)
      index.push_back(p_.AddMark(IndexSum::Of(Source::Iter(i)), iters[at].extent));
    const auto rule = [&](int i) { return IndexSum::Of(Source::Iter(position[i])); };
    const Id value = BodyRewriter(p_, nullptr, rule, extents).Expression(shift);
    const Id buffer = constants_.Compute(absl::StrCat(p_.Text(p_.buffers[sums_].name), ".shift"), "shift",
                                         iters, value, Nest(product_));
    const Range list = p_.AddList(index);
    return p_.AddExpr(Expr::Load(p_.buffers[buffer].dtype, buffer, list));
  }

  void ReplacePart(Id reader, Id part, Id now) {
    ExprCopier copier(p_, p_, {.replace = [&](Id expr) { return expr == part ? now : kNone; }});
    const Id value = copier.Copy(ValueOf(reader));
    const Range values = p_.AddList({value});
    p_.block(reader).values = values;
  }

  Id Nest(Id node) const { return ChildTowards(p_, kRoot, node); }

  Program& p_;
  ConstantBuffers constants_;
  Id product_ = kNone, factor_ = kNone, sums_ = kNone;
};

}  // namespace

int FoldAffine(Program& program) { return Folder(program).Run(); }

}  // namespace kiln
