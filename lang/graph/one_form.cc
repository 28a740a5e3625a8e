#include "lang/graph/one_form.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "lang/analysis/cost.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/reshape.h"
#include "lang/graph/constant_exprs.h"
#include "lang/graph/equal_blocks.h"
#include "lang/graph/outline.h"
#include "lang/graph/plain_expressions.h"
#include "lang/schedule/inline_block.h"
#include "lang/schedule/rewrite.h"
#include "lang/schedule/select_dims.h"

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

// True if no other block writes the result of the store. False for a part of a concatenation, beside which other stores
// write.
bool IsOnlyWriter(const Program& p, Id store) {
  return Writers(p, p.Accesses(p.block(store).dests)[0].buffer).size() == 1;
}

bool IsCopy(const Program& p, Id block) {
  return IsStore(p, block) && p.exprs[p.List(p.block(block).values)[0]].op == Op::kLoad;
}

// True if the store may be inlined: its result is a temporary and not prepared, and no work is repeated. That holds for
// a copy that permutes nothing, for a copy that all readers permute again, and for a store whose only reader is a store
// that reads each element once, in order, and alone writes its own result.
bool MayInline(const Program& p, Id block, const std::vector<char>& prepared) {
  const Id result = p.Accesses(p.block(block).dests)[0].buffer;
  if (p.buffers[result].role != Role::kTemporary || prepared[result] != 0) return false;
  const Expr& value = p.exprs[p.List(p.block(block).values)[0]];
  if (value.op == Op::kLoad && KeepsOrder(p, block)) return true;
  const std::vector<Id> readers = Readers(p, result);
  const auto permutes = [&](Id reader) { return IsCopy(p, reader) && !KeepsOrder(p, reader); };
  if (value.op == Op::kLoad && !readers.empty() && absl::c_all_of(readers, permutes)) return true;
  return readers.size() == 1 && IsStore(p, readers[0]) && IsOnlyWriter(p, readers[0]) &&
         KeepsOrder(p, readers[0]) && Instances(p, readers[0]) == Instances(p, block) &&
         ItersByElement(p, readers[0], result).has_value();
}

// Puts operands of float additions, products, maxima and minima in one order: what the model computes later comes
// first.
class OperandOrder {
 public:
  explicit OperandOrder(Program& program)
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
    const bool any_order = e.op == Op::kAdd || e.op == Op::kMul || e.op == Op::kMax || e.op == Op::kMin;
    if (IsFloat(e.dtype) && any_order && Rank(e.operand(0)) < Rank(e.operand(1)))
      std::swap(e.Operands()[0], e.Operands()[1]);
    return done_[expr] = p_.AddExpr(e);
  }

  // Ranks an expression by when the last buffer that it reads is complete: -1 if it reads none, 0 for constants, 1 for
  // inputs, and from 2 on by the position of the last block that writes the buffer.
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

// Rewrites each block so that its iters have one order. Leaves out iters with one value, but a reduction keeps at least
// one reduction iter. Then removes the dimensions of one element from temporaries.
class Iteration {
 public:
  explicit Iteration(Program& program) : p_(program) {}

  void Normalize() {
    for (const Id block : Blocks(p_)) Rewrite(block);
    DropUnitDims(p_, /*of_parameters=*/false);
  }

 private:
  // Returns the iters in the order in which the result's indices use them, then the body's reads, then the others.
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
    const bool has_unit = absl::c_any_of(p_.Iters(p_.block(block).iters),
                                         [](const Iter& i) { return i.extent.UpperBound() == 1; });
    if (!has_unit && absl::c_is_sorted(order)) return;
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
    BodyRewriter body(p_, nullptr, [&](int i) { return was[i]; }, extents);
    BlockNode now = old;
    now.values = body.Expressions(old.values);
    now.initial = body.Expressions(old.initial);
    now.domain = Rewritten(body, old.domain);
    std::vector<Access> dests;
    for (int r = 0; r < old.dests.count; ++r) {
      const Access dest = p_.accesses[old.dests.begin + r];
      dests.push_back({dest.buffer, Rewritten(body, dest.index)});
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
};

// Writes the expressions of all blocks in one form. Returns how many became others that are equal only for numbers.
int NormalizeExpressions(Program& program, bool assume_numbers) {
  PlainExpressions plain(program, assume_numbers);
  for (const Id block : Blocks(program)) plain.Rewrite(block);
  OperandOrder order(program);
  for (const Id block : Blocks(program)) {
    const Range values = order.Of(program.block(block).values);
    program.block(block).values = values;
    const Range initial = order.Of(program.block(block).initial);
    program.block(block).initial = initial;
  }
  return plain.assumed();
}

// True if the expression reads no buffer, and no part of it is a float. Then it depends only on iters.
bool IsOfIters(const Program& p, Id expr) {
  const Expr& e = p.exprs[expr];
  return !IsFloat(e.dtype) && BufferRead(e) == kNone &&
         absl::c_all_of(e.Operands(), [&](Id operand) { return IsOfIters(p, operand); });
}

// True if the block stores a number, integers that follow from its iters, or elements of a constant without permuting
// them, as a reshape or a broadcast does.
bool RepeatsAConstant(const Program& p, Id block) {
  const BlockNode& b = p.block(block);
  if (b.monoid != kNone || b.values.count != 1) return false;
  const Expr& value = p.exprs[p.List(b.values)[0]];
  if (value.op == Op::kLoad)
    return p.buffers[value.AsLoad().buffer].role == Role::kConstant && KeepsOrder(p, block);
  return value.op == Op::kConstant || IsOfIters(p, p.List(b.values)[0]);
}

// Removes the blocks whose results are temporaries that nothing reads, from the last block to the first.
void DropUnreadBlocks(Program& p) {
  const std::vector<Id> blocks = Blocks(p);
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const bool read = absl::c_any_of(WrittenBuffers(p, *block), [&](Id b) {
      return p.buffers[b].role != Role::kTemporary || !Readers(p, b).empty();
    });
    if (read || p.nodes[*block].first != kNone) continue;
    RemoveWithEmptyLoops(p, *block);
    p.Kill(*block);
  }
}

}  // namespace

void InlineRepeatedConstants(Program& program) {
  PlainExpressions plain(program, /*assume_numbers=*/false);
  for (const Id block : Blocks(program)) {
    plain.Rewrite(block);
    if (RepeatsAConstant(program, block)) InlineBlock(program, block).IgnoreError();
  }
}

int BringToOneForm(Program& program, bool assume_numbers) {
  int assumed = NormalizeExpressions(program, assume_numbers);
  Iteration(program).Normalize();
  MergeEqualBlocks(program);
  const std::vector<char> prepared = PreparedBuffers(program);
  for (const Id block : Blocks(program)) {
    if (IsStore(program, block) && MayInline(program, block, prepared))
      InlineBlock(program, block).IgnoreError();
  }
  assumed += NormalizeExpressions(program, assume_numbers);
  DropUnreadBlocks(program);
  Iteration(program).Normalize();
  return assumed;
}

}  // namespace kiln
