#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/program/product.h"
#include "lang/verify/checker.h"

namespace kiln {
namespace {

class BlockChecker : public Checker {
 public:
  using Checker::Checker;

  void Run(Id block) {
    CheckIters(block);
    if (ok()) CheckBody(block);
    if (ok()) CheckOrder(block);
  }

 private:
  void CheckIters(Id block) {
    const BlockNode& b = p_.block(block);
    bool reduces = false;
    for (const Iter& iter : p_.Iters(b.iters)) {
      if (!Require(In(iter.name, p_.names) && In(iter.binding, p_.marks), "an iter has ids out of range"))
        return;
      const absl::string_view name = p_.Text(iter.name);
      Require(ExtentOk(iter.extent), "iter ", name, " has an extent of ", iter.extent.UpperBound());
      Require(p_.marks[iter.binding].extent == iter.extent, "the binding of iter ", name,
              " has another extent");
      CheckMark(iter.binding, block, iter, 0);
      reduces |= iter.kind == IterKind::kReduction;
    }
    Require(Product(p_.Iters(b.iters)).has_value(), "its instances exceed int64");
    Require(!reduces || b.monoid != kNone || b.dests.count == 0, "it has a reduction iter and no monoid");
    CheckOwn(b.domain, b.iters.count, "its domain");
  }

  void CheckMark(Id mark, Id block, const Iter& of, size_t depth) {
    const absl::string_view name = p_.Text(of.name);
    if (!Require(depth <= p_.marks.size(), "the binding of iter ", name, " contains itself")) return;
    for (const IndexSplit& s : p_.Splits(p_.marks[mark].splits)) {
      if (!ok()) return;
      if (s.source.kind == Source::Kind::kMark) {
        CheckMark(s.source.id, block, of, depth + 1);
      } else if (s.source.kind == Source::Kind::kIter) {
        const Id around = EnclosingBlock(p_, block);
        if (!Require(around != kNone && s.source.id < p_.block(around).iters.count, "the binding of iter ",
                     name, " uses an iter that no block around has"))
          return;
        const Iter& from = p_.Iters(p_.block(around).iters)[s.source.id];
        Require(of.kind == IterKind::kSpatial || from.kind == IterKind::kReduction ||
                    from.extent.UpperBound() == 1,
                "reduction iter ", name, " uses iter ", p_.Text(from.name),
                " of the block around it, which is spatial");
      } else if (p_.nodes[s.source.id].kind == Node::Kind::kDead) {
        const Id definition = p_.loops[p_.nodes[s.source.id].index].definition;
        if (Require(In(definition, p_.marks), "the binding of iter ", name, " uses loop ",
                    p_.Text(p_.loops[p_.nodes[s.source.id].index].name),
                    ", which is gone without a definition")) {
          CheckMark(definition, block, of, depth + 1);
        }
      } else {
        Id at = p_.nodes[block].parent;
        while (at != kNone && p_.IsLoop(at) && at != s.source.id) at = p_.nodes[at].parent;
        Require(at == s.source.id, "the binding of iter ", name, " uses loop ",
                p_.Text(p_.loops[p_.nodes[s.source.id].index].name), ", which is not around it");
      }
    }
  }

  // Checks that the marks use only the block's own iters. Otherwise returns false, after recording the violation.
  bool CheckOwn(Range marks, int iters, absl::string_view what) {
    for (const Id mark : p_.List(marks)) {
      for (const IndexSplit& s : p_.Splits(p_.marks[mark].splits)) {
        if (!Require(s.source.kind == Source::Kind::kIter && s.source.id < iters, what,
                     " is not over its own iters"))
          return false;
      }
    }
    return true;
  }

  // --- Checks the body of a block: the counts and dtypes of values and destinations, expressions, and bounds of
  // indices.
  void CheckBody(Id block) {
    const BlockNode& b = p_.block(block);
    Require(b.dests.count == b.values.count, "it has ", b.values.count, " values for ", b.dests.count,
            " destinations");
    Require(b.initial.count == 0 || (b.monoid != kNone && b.initial.count == b.dests.count && !b.accumulates),
            "it has initial values, but is not a reduction that starts with them");
    Require(!b.accumulates || b.monoid != kNone, "it accumulates without a monoid");
    if (b.monoid != kNone) {
      Require(p_.monoids[b.monoid].identity.count == b.dests.count, "its monoid has ",
              p_.monoids[b.monoid].identity.count, " results");
    }
    for (int r = 0; r < b.dests.count && ok(); ++r) CheckDest(block, r);
    const std::vector<Guard> none;
    for (const Id e : p_.List(b.values)) CheckExpr(block, e, none, 0);
    for (const Id e : p_.List(b.initial)) CheckExpr(block, e, none, 0);
  }

  bool SameIndex(const Access& a, const Access& b) const {
    const auto shape_a = p_.Dims(p_.buffers[a.buffer].shape), shape_b = p_.Dims(p_.buffers[b.buffer].shape);
    const auto index_a = p_.List(a.index), index_b = p_.List(b.index);
    return shape_a == shape_b &&
           std::equal(index_a.begin(), index_a.end(), index_b.begin(), index_b.end(),
                      [&](Id one, Id other) { return p_.SumOf(one) == p_.SumOf(other); });
  }

  void CheckDest(Id block, int r) {
    const BlockNode& b = p_.block(block);
    const Access& dest = p_.accesses[b.dests.begin + r];
    if (!Require(In(dest.buffer, p_.buffers) && ListIn(dest.index, p_.marks),
                 "a destination has ids out of range"))
      return;
    const Buffer& buffer = p_.buffers[dest.buffer];
    const absl::string_view name = p_.Text(buffer.name);
    Require(!IsGiven(buffer.role), "it writes ", name, ", which is neither an output nor a temporary");
    Require(dest.index.count == buffer.shape.count, "it writes ", name, " with ", dest.index.count,
            " indices, wanted ", buffer.shape.count);
    const auto typed = [&](Range list) { return p_.exprs[p_.lists[list.begin + r]].dtype == buffer.dtype; };
    Require(typed(b.values), "its value has another dtype than ", name);
    Require(b.initial.count == 0 || typed(b.initial), "its initial value has another dtype than ", name);
    if (b.monoid != kNone && ok()) {
      Require(typed(p_.monoids[b.monoid].identity) && typed(p_.monoids[b.monoid].combine),
              "its monoid has another dtype than ", name);
      Require(SameIndex(p_.accesses[b.dests.begin], dest), "its results have different shapes or indices");
    }
    if (ok() && CheckOwn(dest.index, b.iters.count, "a destination's index"))
      CheckBounds(block, dest.buffer, dest.index, {});
  }

  // Checks an expression and its operands. `guards` are the conditions (kWithin) around it, and `scope` is a number for
  // them. A shared operand is checked once in each scope. Skips the value inside a kWithin if one of its conditions
  // never holds.
  void CheckExpr(Id block, Id expr, const std::vector<Guard>& guards, int scope) {
    if (!ok() || !seen_.emplace(scope, expr).second) return;
    const Expr& e = p_.exprs[expr];
    const int iters = p_.block(block).iters.count;
    Require(e.op != Op::kArg, "its value has an argument of a monoid");
    if (e.op == Op::kIndex) {
      for (const IndexSplit& s : p_.Splits(p_.marks[e.AsIndex()].splits)) {
        Require(s.source.kind == Source::Kind::kIter && s.source.id < iters,
                "an index is not over its own iters");
      }
    }
    if (e.op == Op::kLoad) {
      const auto [buffer, index] = e.AsLoad();
      if (CheckOwn(index, iters, "an index")) CheckBounds(block, buffer, index, guards);
      return;
    }
    if (e.op == Op::kWithin) {
      const auto [marks, value, otherwise] = e.AsWithin();
      if (!CheckOwn(marks, iters, "a guard")) return;
      std::vector<Guard> inside = guards;
      const Extents extents(p_, block);
      bool reached = true;
      for (const Id mark : p_.List(marks)) {
        inside.push_back({p_.SumOf(mark), p_.marks[mark].extent.UpperBound()});
        const Interval bounds = Bounds(Simplify(inside.back().value, extents), extents);
        reached &= bounds.max >= 0 && bounds.min < inside.back().extent;
      }
      const int next = static_cast<int>(scopes_.size()) + 1;
      if (reached) CheckExpr(block, value, inside, scopes_.try_emplace({scope, expr}, next).first->second);
      CheckExpr(block, otherwise, guards, scope);
      return;
    }
    for (const Id operand : e.Operands()) CheckExpr(block, operand, guards, scope);
  }

  // Checks the indices of an access. Each must have the extent of its dimension. If there are no guards and the block
  // has no domain, each must be proven to lie in its dimension. Otherwise none may be proven to lie always outside.
  void CheckBounds(Id block, Id buffer, Range index, std::vector<Guard> guards) {
    const auto shape = p_.Dims(p_.buffers[buffer].shape);
    const Extents extents(p_, block);
    for (const Id mark : p_.List(p_.block(block).domain))
      guards.push_back({p_.SumOf(mark), p_.marks[mark].extent.UpperBound()});
    for (int d = 0; d < index.count && ok(); ++d) {
      const Id mark = p_.lists[index.begin + d];
      Require(p_.marks[mark].extent == shape[d], "an index of ", p_.Text(p_.buffers[buffer].name),
              " has another extent than dimension ", d);
      const Interval bounds = Bounds(Simplify(p_.SumOf(mark), extents), extents);
      const bool outside = guards.empty() ? bounds.min < 0 || bounds.max >= shape[d].UpperBound()
                                          : bounds.max < 0 || bounds.min >= shape[d].UpperBound();
      Require(!outside, "dimension ", d, " of ", p_.Text(p_.buffers[buffer].name), " has extent ",
              shape[d].UpperBound(), ", and its index is ", bounds.min, " .. ", bounds.max);
    }
  }

  // --- Checks that each buffer that a block reads (inputs, constants and scalars excepted) or accumulates into is
  // written by another block, which stands before it or shares a loop with it.
  void CheckOrder(Id block) {
    const auto comes_before = [&](Id writer) {
      return writer != block &&
             (Before(p_, writer, block) || p_.IsLoop(LowestCommonAncestor(p_, {writer, block})));
    };
    const auto written = [&](Id buffer) {
      const std::vector<Id> writers = Writers(p_, buffer);
      return std::any_of(writers.begin(), writers.end(), comes_before);
    };
    for (const Id buffer : ReadBuffers(p_, block)) {
      if (IsGiven(p_.buffers[buffer].role)) continue;
      Require(written(buffer), "it reads ", p_.Text(p_.buffers[buffer].name),
              ", which nothing before it writes");
    }
    if (!p_.block(block).accumulates) return;
    for (const Id buffer : WrittenBuffers(p_, block)) {
      Require(written(buffer), "it accumulates into ", p_.Text(p_.buffers[buffer].name),
              ", which nothing before it initializes");
    }
  }

  // The pairs (scope, expression) that were checked, and the scope inside each kWithin: the key is the pair (scope
  // around, kWithin).
  absl::flat_hash_set<std::pair<int, Id>> seen_;
  absl::flat_hash_map<std::pair<int, Id>, int> scopes_;
};

}  // namespace

void CheckBlock(const Program& program, Id block, Violation& first) {
  BlockChecker(program, first).Run(block);
}

}  // namespace kiln
