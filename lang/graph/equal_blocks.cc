#include "lang/graph/equal_blocks.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "lang/analysis/dataflow.h"
#include "lang/program/compact.h"
#include "lang/program/expr_copier.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

class EqualBlocks {
 public:
  explicit EqualBlocks(Program& program) : p_(program) {
    for (const Id block : Blocks(p_)) {
      for (const Id b : WrittenBuffers(p_, block)) writers_[b].push_back(block);
      for (const Id b : ReadBuffers(p_, block)) readers_[b].insert(block);
    }
  }

  int Merge() {
    int count = 0;
    std::map<std::pair<Id, std::vector<Id>>, std::vector<Id>> known;  // by monoid and what they read
    for (const Id block : Blocks(p_)) {
      if (!MayMerge(block)) continue;
      std::vector<Id>& candidates = known[{p_.block(block).monoid, ReadBuffers(p_, block)}];
      const auto equal = absl::c_find_if(candidates, [&](Id other) { return AreEqual(other, block); });
      if (equal == candidates.end()) {
        candidates.push_back(block);
        continue;
      }
      Replace(block, *equal);
      ++count;
    }
    if (count > 0) DropUnusedExprs(p_);
    return count;
  }

 private:
  // True if the block may be merged with an equal one: it is the only writer of a temporary, whatever it reads is
  // written before it or never, and it has no annotations, contains no blocks and continues no reduction.
  bool MayMerge(Id block) {
    const BlockNode& b = p_.block(block);
    if (b.dests.count != 1 || b.accumulates || p_.nodes[block].first != kNone || b.annotations.count != 0)
      return false;
    const Id result = p_.Accesses(b.dests)[0].buffer;
    if (p_.buffers[result].role != Role::kTemporary || writers_[result].size() != 1) return false;
    return absl::c_all_of(ReadBuffers(p_, block), [&](Id read) {
      return absl::c_all_of(writers_[read], [&](Id writer) { return Before(p_, writer, block); });
    });
  }

  bool AreEqual(Id x, Id y) {
    equal_.clear();
    const BlockNode &a = p_.block(x), &b = p_.block(y);
    const auto iters_a = p_.Iters(a.iters), iters_b = p_.Iters(b.iters);
    const auto same_iter = [](const Iter& i, const Iter& j) {
      return i.extent == j.extent && i.kind == j.kind;
    };
    if (!absl::c_equal(iters_a, iters_b, same_iter)) return false;
    const Access &to_a = p_.Accesses(a.dests)[0], &to_b = p_.Accesses(b.dests)[0];
    const Buffer &result_a = p_.buffers[to_a.buffer], &result_b = p_.buffers[to_b.buffer];
    return result_a.dtype == result_b.dtype && result_a.layout.axes.count == 0 &&
           result_b.layout.axes.count == 0 &&
           absl::c_equal(p_.Dims(result_a.shape), p_.Dims(result_b.shape)) &&
           AreEqualMarks(to_a.index, to_b.index) && AreEqualMarks(a.domain, b.domain) &&
           AreEqualLists(a.values, b.values) && AreEqualLists(a.initial, b.initial);
  }

  bool AreEqualMarks(Range a, Range b) const {
    return absl::c_equal(p_.List(a), p_.List(b), [&](Id x, Id y) {
      return p_.marks[x].extent == p_.marks[y].extent && p_.SumOf(x) == p_.SumOf(y);
    });
  }

  bool AreEqualLists(Range a, Range b) {
    return absl::c_equal(p_.List(a), p_.List(b), [&](Id x, Id y) { return AreEqualExprs(x, y); });
  }

  bool AreEqualExprs(Id x, Id y) {
    if (x == y) return true;
    if (const auto known = equal_.find({x, y}); known != equal_.end()) return known->second;
    return equal_[{x, y}] = AreEqualNodes(p_.exprs[x], p_.exprs[y]);
  }

  bool AreEqualNodes(const Expr& a, const Expr& b) {
    if (a.op != b.op || a.dtype != b.dtype) return false;
    switch (a.op) {
      case Op::kConstant:
      case Op::kArg:
        return a.Number() == b.Number();
      case Op::kIndex:
        return p_.SumOf(a.AsIndex()) == p_.SumOf(b.AsIndex());
      case Op::kLoad:
        return a.AsLoad().buffer == b.AsLoad().buffer && AreEqualMarks(a.AsLoad().index, b.AsLoad().index);
      case Op::kGather:
        if (a.AsGather().buffer != b.AsGather().buffer) return false;
        break;
      case Op::kWithin:
        if (!AreEqualMarks(a.AsWithin().marks, b.AsWithin().marks)) return false;
        break;
      default:
        break;
    }
    return absl::c_equal(a.Operands(), b.Operands(), [&](Id x, Id y) { return AreEqualExprs(x, y); });
  }

  // Makes the readers of the block's result read the result of the block `by`, which is equal, and removes the first
  // block.
  void Replace(Id block, Id by) {
    const Id gone = p_.Accesses(p_.block(block).dests)[0].buffer,
             kept = p_.Accesses(p_.block(by).dests)[0].buffer;
    ExprCopier exprs(p_, p_, {.buffer = [&](Id buffer) { return buffer == gone ? kept : buffer; }});
    for (const Id reader : readers_[gone]) {
      const Range values = exprs.Copy(p_.block(reader).values);
      p_.block(reader).values = values;
      const Range initial = exprs.Copy(p_.block(reader).initial);
      p_.block(reader).initial = initial;
      readers_[kept].insert(reader);
    }
    readers_[gone].clear();
    for (const Id read : ReadBuffers(p_, block)) readers_[read].erase(block);
    RemoveWithEmptyLoops(p_, block);
    p_.Kill(block);
  }

  Program& p_;
  std::map<Id, std::vector<Id>> writers_;
  std::map<Id, std::set<Id>> readers_;
  std::map<std::pair<Id, Id>, bool> equal_;  // expressions of the two blocks that are compared
};

}  // namespace

int MergeEqualBlocks(Program& program) { return EqualBlocks(program).Merge(); }

}  // namespace kiln
