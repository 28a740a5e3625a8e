#include "lang/graph/one_form.h"

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/base/casts.h"
#include "absl/container/flat_hash_map.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/reshape.h"
#include "lang/graph/constant_exprs.h"
#include "lang/graph/outline.h"
#include "lang/program/compact.h"
#include "lang/schedule/inline_block.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

bool IsStore(const Program& p, Id block) {
  const BlockNode& b = p.block(block);
  return b.monoid == kNone && b.domain.count == 0 && b.dests.count == 1 && b.values.count == 1 &&
         p.nodes[block].first == kNone;
}

int64_t Instances(const Program& p, Id block) {
  int64_t instances = 1;
  for (const int64_t extent : IterExtents(p, block)) instances *= extent;
  return instances;
}

// False for a part of a concatenation.
bool IsOnlyWriter(const Program& p, Id store) {
  return Writers(p, p.Accesses(p.block(store).dests)[0].buffer).size() == 1;
}

// True if inlining the store repeats no work.
bool MayInline(const Program& p, Id block, const std::vector<char>& prepared) {
  const Id result = p.Accesses(p.block(block).dests)[0].buffer;
  if (p.buffers[result].role != Role::kTemporary || prepared[result] != 0) return false;
  const Expr& value = p.exprs[p.List(p.block(block).values)[0]];
  if (value.op == Op::kLoad && KeepsOrder(p, block)) return true;
  const std::vector<Id> readers = Readers(p, result);
  return readers.size() == 1 && IsStore(p, readers[0]) && IsOnlyWriter(p, readers[0]) &&
         KeepsOrder(p, readers[0]) && Instances(p, readers[0]) == Instances(p, block) &&
         ItersByElement(p, readers[0], result).has_value();
}

class Expressions {
 public:
  explicit Expressions(Program& program)
      : p_(program), constants_(program), written_(program.buffers.size()) {
    int position = 0;
    for (const Id block : Blocks(p_)) {
      ++position;
      for (const Id b : WrittenBuffers(p_, block)) written_[b] = position;
    }
  }

  Range Of(Range list) {
    std::vector<int32_t> exprs;
    for (int i = 0; i < list.count; ++i) exprs.push_back(Of(p_.lists[list.begin + i]));
    return p_.AddList(exprs);
  }

 private:
  Id Of(Id expr) {
    if (const auto known = done_.find(expr); known != done_.end()) return known->second;
    Expr e = p_.exprs[expr];
    for (Id& operand : e.Operands()) operand = Of(operand);
    return done_[expr] = p_.AddExpr(IsFloat(e.dtype) ? InOrder(Plain(e)) : e);
  }

  // The finite value of a literal, or NaN.
  double Number(Id expr) const {
    const Expr& e = p_.exprs[expr];
    const double value = e.op == Op::kConstant ? absl::bit_cast<double>(e.Number()) : NAN;
    return std::isfinite(value) ? value : NAN;
  }

  bool IsLeast(Id expr) const {
    const Expr& e = p_.exprs[expr];
    return e.op == Op::kConstant && absl::bit_cast<double>(e.Number()) == -INFINITY;
  }

  // Another operation with the same results, or the same one.
  Expr Plain(const Expr& e) const {
    if (e.op == Op::kDiv) {
      const double by = Number(e.operand(1));
      int exponent = 0;
      if (std::abs(std::frexp(by, &exponent)) != 0.5 || std::abs(exponent) > 14) return e;
      return {Op::kMul, e.dtype, e.operand(0), Literal(e.dtype, 1 / by)};
    }
    if (e.op == Op::kMax && IsLeast(e.operand(1))) return p_.exprs[e.operand(0)];
    if (e.op == Op::kMax && IsLeast(e.operand(0))) return p_.exprs[e.operand(1)];
    if (e.op != Op::kSelect) return e;
    const Expr& condition = p_.exprs[e.operand(0)];
    const double bound = Number(e.operand(2));
    const bool is_max = condition.op == Op::kCmpUGt && condition.operand(0) == e.operand(1) &&
                        condition.operand(1) == e.operand(2) && !std::isnan(bound) &&
                        !(bound == 0 && std::signbit(bound));
    return is_max ? Expr{Op::kMax, e.dtype, e.operand(1), e.operand(2)} : e;
  }

  Id Literal(DType dtype, double value) const {
    return p_.AddExpr(Expr::Constant(dtype, absl::bit_cast<int64_t>(value)));
  }

  Expr InOrder(Expr e) const {
    if (e.op != Op::kAdd && e.op != Op::kMul && e.op != Op::kMax && e.op != Op::kMin) return e;
    if (Rank(e.operand(0)) < Rank(e.operand(1))) std::swap(e.Operands()[0], e.Operands()[1]);
    return e;
  }

  // When the model has the last of what the expression reads: 1 and more; 0 for constants, -1 for numbers.
  int Rank(Id expr) const {
    if (const auto known = ranks_.find(expr); known != ranks_.end()) return known->second;
    const Expr& e = p_.exprs[expr];
    int rank = -1;
    if (const Id buffer = BufferRead(e); buffer != kNone)
      rank = constants_.IsConstant(buffer) ? 0 : 1 + written_[buffer];
    for (const Id operand : e.Operands()) rank = std::max(rank, Rank(operand));
    return ranks_[expr] = rank;
  }

  Program& p_;
  const ConstantBuffers constants_;
  std::vector<int> written_;  // by buffer: the position of the last block that writes it
  absl::flat_hash_map<Id, Id> done_;
  mutable absl::flat_hash_map<Id, int> ranks_;
};

// Puts iters in one order, and leaves out those with one value, but for the last reduction iter of a reduction. Leaves
// out dimensions of temporaries with one element.
class Iteration {
 public:
  explicit Iteration(Program& program) : p_(program), kept_(program.buffers.size()) {
    for (const Id block : Blocks(p_)) {
      for (const Id gather : Gathers(p_, block)) gathered_.insert(BufferRead(p_.exprs[gather]));
    }
  }

  void Normalize() {
    const std::vector<Id> blocks = Blocks(p_);
    for (Id b = 0; b < static_cast<Id>(p_.buffers.size()); ++b) ShrinkBuffer(b);
    for (const Id block : blocks) Rewrite(block);
    for (Id b = 0; b < static_cast<Id>(p_.buffers.size()); ++b) {
      if (kept_[b].empty()) continue;
      const auto dims = p_.Dims(p_.buffers[b].shape);
      std::vector<Extent> shape;
      for (const int d : kept_[b]) shape.push_back(dims[d]);
      p_.buffers[b].shape = p_.AddDims(shape);
    }
    DropUnusedExprs(p_);  // some read at dimensions that are gone
  }

 private:
  // Sets kept_[b] to the dimensions that stay, if others do not.
  void ShrinkBuffer(Id b) {
    if (p_.buffers[b].role != Role::kTemporary || p_.buffers[b].layout.axes.count != 0 ||
        gathered_.contains(b))
      return;
    const auto dims = p_.Dims(p_.buffers[b].shape);
    std::vector<int> kept;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d].UpperBound() != 1) kept.push_back(static_cast<int>(d));
    }
    if (!kept.empty() && kept.size() < dims.size()) kept_[b] = kept;
  }

  Range IndexOf(Id buffer, Range index) {
    if (kept_[buffer].empty()) return index;
    std::vector<int32_t> marks;
    for (const int d : kept_[buffer]) marks.push_back(p_.lists[index.begin + d]);
    return p_.AddList(marks);
  }

  bool IsConcerned(Id block) const {
    const auto shrinks = [&](Id b) { return !kept_[b].empty(); };
    return absl::c_any_of(p_.Iters(p_.block(block).iters),
                          [](const Iter& i) { return i.extent.UpperBound() == 1; }) ||
           absl::c_any_of(ReadBuffers(p_, block), shrinks) ||
           absl::c_any_of(WrittenBuffers(p_, block), shrinks);
  }

  // The iters in the order in which the result's indices use them, then the body's reads.
  std::vector<int> Order(Id block) const {
    const BlockNode& b = p_.block(block);
    std::vector<int> order;
    const auto add = [&](int iter) {
      if (!absl::c_linear_search(order, iter)) order.push_back(iter);
    };
    const auto add_all = [&](Range marks) {
      for (const Id mark : p_.List(marks)) {
        for (const IndexSplit& split : p_.SumOf(mark).splits) add(split.source.id);
      }
    };
    for (const Access& dest : p_.Accesses(b.dests)) add_all(dest.index);
    for (const Id load : Loads(p_, block)) add_all(p_.exprs[load].AsLoad().index);
    for (int i = 0; i < b.iters.count; ++i) add(i);
    return order;
  }

  void Rewrite(Id block) {
    const std::vector<int> order = Order(block);
    if (!IsConcerned(block) && absl::c_is_sorted(order)) return;
    const BlockNode old = p_.block(block);
    std::vector<Iter> iters;
    std::vector<int64_t> extents;
    std::vector<IndexSum> was(old.iters.count);  // a constant 0 where an iter is left out
    int reductions = 0;
    for (const Iter& iter : p_.Iters(old.iters)) reductions += iter.kind == IterKind::kReduction ? 1 : 0;
    for (const int i : order) {
      const Iter iter = p_.iters[old.iters.begin + i];
      const bool is_reduction = iter.kind == IterKind::kReduction;
      if (iter.extent.UpperBound() == 1 && (!is_reduction || reductions > 1)) {
        reductions -= is_reduction ? 1 : 0;
        continue;
      }
      was[i] = IndexSum::Of(Source::Iter(static_cast<int32_t>(iters.size())));
      iters.push_back(iter);
      extents.push_back(iter.extent.Known());
    }
    BodyRewriter marks(p_, nullptr, [&](int i) { return was[i]; }, extents);
    ExprCopier exprs(
        p_, p_,
        {.mark = [&](Id mark) { return marks.Index(mark); },
         .index = [&](Id buffer, Range index) { return Rewritten(marks, IndexOf(buffer, index)); }});
    BlockNode now = old;
    now.values = exprs.Copy(old.values);
    now.initial = exprs.Copy(old.initial);
    now.domain = Rewritten(marks, old.domain);
    std::vector<Access> dests;
    for (int r = 0; r < old.dests.count; ++r) {
      const Access dest = p_.accesses[old.dests.begin + r];
      dests.push_back({dest.buffer, Rewritten(marks, IndexOf(dest.buffer, dest.index))});
    }
    now.dests.begin = static_cast<int32_t>(p_.accesses.size());
    p_.accesses.insert(p_.accesses.end(), dests.begin(), dests.end());
    now.iters = {static_cast<int32_t>(p_.iters.size()), static_cast<int32_t>(iters.size())};
    p_.iters.insert(p_.iters.end(), iters.begin(), iters.end());
    p_.block(block) = now;
    NewLoops(block);
  }

  Range Rewritten(BodyRewriter& rewriter, Range marks) {
    std::vector<int32_t> list;
    for (int i = 0; i < marks.count; ++i) list.push_back(rewriter.Index(p_.lists[marks.begin + i]));
    return p_.AddList(list);
  }

  void NewLoops(Id block) {
    const Id place = p_.AddLoop("place", Extent(1));
    p_.InsertBefore(ChildTowards(p_, kRoot, block), place);
    RemoveWithEmptyLoops(p_, block);
    p_.Replace(place, NestOver(p_, block, WholeRanges(p_, block), false));
  }

  Program& p_;
  std::vector<std::vector<int>> kept_;  // by buffer: the dimensions that stay; empty: all
  std::set<Id> gathered_;
};

void NormalizeExpressions(Program& program) {
  Expressions expressions(program);
  for (const Id block : Blocks(program)) {
    const Range values = expressions.Of(program.block(block).values);
    program.block(block).values = values;
    const Range initial = expressions.Of(program.block(block).initial);
    program.block(block).initial = initial;
  }
}

}  // namespace

void BringToOneForm(Program& program) {
  NormalizeExpressions(program);
  const std::vector<char> prepared = PreparedBuffers(program);
  for (const Id block : Blocks(program)) {
    if (IsStore(program, block) && MayInline(program, block, prepared))
      InlineBlock(program, block).IgnoreError();
  }
  NormalizeExpressions(program);
  Iteration(program).Normalize();
}

}  // namespace kiln
