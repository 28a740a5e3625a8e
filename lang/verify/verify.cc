#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/analysis/restrictions.h"
#include "lang/patterns/match.h"
#include "lang/program/layout.h"
#include "lang/program/product.h"
#include "lang/program/program.h"
#include "lang/program/scalar.h"
#include "lang/verify/verify.h"

namespace kiln {
namespace {

class Verifier {
 public:
  explicit Verifier(const Program& program) : p_(program) {}

  absl::Status Run(Id& broken) {
    broken = kNone;
    CheckPools();
    if (ok()) CheckExprs();
    if (ok()) CheckTree();
    if (ok()) CheckParameters();
    if (!ok()) return status_;
    for (const Id block : Blocks(p_)) {
      where_ = absl::StrCat(Describe(p_, block), ": ");
      CheckIters(block);
      if (ok()) CheckBody(block);
      if (ok()) CheckOrder(block);
      if (ok()) continue;
      broken = block;
      break;
    }
    where_.clear();
    if (ok() && HasCalls(p_)) {
      const absl::Status calls = CheckCalls(p_);
      Require(calls.ok(), calls.message());
    }
    if (ok() && Restricted(p_)) {
      const absl::Status kept = CheckRestrictions(p_);
      Require(kept.ok(), kept.message());
    }
    return status_;
  }

 private:
  bool ok() const { return status_.ok(); }

  template <typename... Args>
  bool Require(bool condition, Args&&... message) {
    if (!condition && ok()) {
      status_ = absl::InternalError(
          absl::StrCat("program \"", p_.name, "\": ", where_, std::forward<Args>(message)...));
    }
    return condition;
  }

  template <typename Pool>
  static bool In(Id id, const Pool& pool) {
    return id >= 0 && static_cast<size_t>(id) < pool.size();
  }
  template <typename Pool>
  static bool In(Range r, const Pool& pool) {
    return r.count >= 0 && r.begin >= 0 &&
           static_cast<size_t>(r.begin) + static_cast<size_t>(r.count) <= pool.size();
  }
  template <typename Pool>
  bool ListIn(Range r, const Pool& pool) const {
    if (!In(r, p_.lists)) return false;
    for (const int32_t id : p_.List(r)) {
      if (!In(id, pool)) return false;
    }
    return true;
  }

  bool ExtentOk(const Extent& e) const {
    return e.LowerBound() >= 1 && e.LowerBound() <= e.UpperBound() && e.divisor() >= 1 &&
           (e.constant() ? e.LowerBound() == e.UpperBound() : In(e.parameter(), p_.buffers));
  }

  // --- the pools: whatever is named is there
  void CheckPools() {
    Require(p_.names.empty() || p_.names.back() == '\0', "the names do not end");
    for (size_t i = 0; i < p_.splits.size() && ok(); ++i) {
      const Split& s = p_.splits[i];
      Require(s.lower >= 1 && s.extent >= 0 && s.source.id >= 0, "split ", i,
              " divides by what is not positive");
      if (s.source.kind == Source::Kind::kLoop) {
        Require(In(s.source.id, p_.nodes) && In(p_.nodes[s.source.id].index, p_.loops), "split ", i,
                " is of no loop");
      } else if (s.source.kind == Source::Kind::kMark) {
        Require(In(s.source.id, p_.marks), "split ", i, " is of no mark");
      }
    }
    for (size_t i = 0; i < p_.marks.size() && ok(); ++i) {
      Require(In(p_.marks[i].splits, p_.splits) && p_.marks[i].extent.UpperBound() >= 1, "mark ", i,
              " has splits out of range or no extent");
    }
    for (size_t i = 0; i < p_.buffers.size() && ok(); ++i) CheckBuffer(static_cast<Id>(i));
    for (size_t i = 0; i < p_.monoids.size() && ok(); ++i) {
      const Monoid& m = p_.monoids[i];
      Require(ListIn(m.identity, p_.exprs) && ListIn(m.combine, p_.exprs), "monoid ", i,
              " has ids out of range");
      Require(m.identity.count >= 1 && m.identity.count == m.combine.count, "monoid ", i, " combines ",
              m.combine.count, " results and has ", m.identity.count, " identities");
    }
  }

  void CheckBuffer(Id id) {
    const Buffer& b = p_.buffers[id];
    if (!Require(In(b.name, p_.names) && In(b.shape, p_.dims), "buffer ", id, " has ids out of range"))
      return;
    const absl::string_view name = p_.Text(b.name);
    for (const Extent& e : p_.Dims(b.shape))
      Require(ExtentOk(e), "buffer ", name, " has an extent of ", e.UpperBound());
    Require(Product(p_.Dims(b.shape), SizeOf(b.dtype)).has_value(), "buffer ", name, " exceeds int64");
    if (!Require(ListIn(b.layout.axes, p_.marks), "the layout of buffer ", name, " has ids out of range"))
      return;
    for (const Id mark : p_.List(b.layout.axes)) {
      for (const Split& s : p_.Splits(p_.marks[mark].splits)) {
        Require(s.source.kind == Source::Kind::kIter && s.source.id < b.shape.count, "the layout of buffer ",
                name, " is not over its dimensions");
      }
    }
    Require(b.layout.kinds.count == 0 ||
                (b.layout.kinds.count == b.layout.axes.count && In(b.layout.kinds, p_.lists)),
            "the layout of buffer ", name, " has ", b.layout.kinds.count, " kinds of ", b.layout.axes.count,
            " axes");
    if (!ok()) return;
    const absl::Status laid = CheckLayout(p_, id);
    Require(laid.ok(), laid.message());
    Require(b.layout.padding == kNone ||
                (In(b.layout.padding, p_.exprs) && p_.exprs[b.layout.padding].op == Op::kConstant),
            "the padding of buffer ", name, " is no constant");
    if (b.data == kNone) return;
    if (!Require(b.role == Role::kConstant && p_.constants != nullptr && In(b.data, *p_.constants), "buffer ",
                 name, " has data that are not there")) {
      return;
    }
    const int64_t bytes = SizeOf(b.dtype) * ElementsOf(p_, id);
    Require(static_cast<int64_t>((*p_.constants)[b.data].size()) == bytes, "buffer ", name, " has ",
            (*p_.constants)[b.data].size(), " bytes of data, wanted ", bytes);
  }

  // Operands come before users, so that nothing contains itself.
  void CheckExprs() {
    for (size_t i = 0; i < p_.exprs.size() && ok(); ++i) {
      const Expr& e = p_.exprs[i];
      if (!Require(static_cast<int>(e.op) < kNumOps, "expression ", i, " has no operation")) return;
      const auto name = [&] { return absl::StrCat("expression ", i, " (", ToString(e.op), ")"); };
      const Id operands[3] = {e.a, e.b, e.c};
      for (int k = 0; k < Arity(e.op); ++k) {
        if (!Require(operands[k] >= 0 && operands[k] < static_cast<Id>(i), name(),
                     " has an operand that is not before it"))
          return;
      }
      const auto type = [&](Id id) { return p_.exprs[id].dtype; };
      switch (e.op) {
        case Op::kConstant:
          break;
        case Op::kArg:
          Require(e.bits >= 0, name(), " is no argument");
          break;
        case Op::kIndex:
          Require(In(e.a, p_.marks) && e.dtype == DType::kIndex, name(), " is no index");
          break;
        case Op::kLoad:
          Require(In(e.a, p_.buffers) && ListIn({e.b, e.c}, p_.marks) && p_.buffers[e.a].shape.count == e.c &&
                      p_.buffers[e.a].dtype == e.dtype,
                  name(), " does not fit the rank or dtype of its buffer");
          break;
        case Op::kGather:
          Require(IsGather(e), name(), " does not fit the rank or dtype of its buffer");
          break;
        case Op::kTuple:
          Require(e.dtype == DType::kIndex && type(e.a) == e.dtype && type(e.b) == e.dtype, name(),
                  " is not of indices");
          break;
        case Op::kWithin:
          Require(ListIn(Program::WithinMarks(e), p_.marks) && type(e.a) == e.dtype && type(e.b) == e.dtype,
                  name(), " has sides of another dtype");
          break;
        case Op::kSelect:
          Require(type(e.a) == DType::kI1 && type(e.b) == e.dtype && type(e.c) == e.dtype, name(),
                  " has operands of a wrong dtype");
          break;
        case Op::kCast:
        case Op::kCastUnsigned:
          break;
        case Op::kBitcast:
          Require(SizeOf(type(e.a)) == SizeOf(e.dtype), name(), " changes the size");
          break;
        default: {
          for (int k = 1; k < Arity(e.op); ++k)
            Require(type(operands[k]) == type(e.a), name(), " has operands of different dtypes");
          Require(e.dtype == (IsComparison(e.op) ? DType::kI1 : type(e.a)), name(), " has dtype ",
                  ToString(e.dtype));
          Require(HasFunction(e.op, type(e.a)), name(), " is not defined on ", ToString(type(e.a)));
        }
      }
    }
  }

  // A row of indices that fits the buffer, which is not a tuple of tuples.
  bool IsGather(const Expr& e) const {
    if (e.bits < 0 || e.bits >= static_cast<int64_t>(p_.buffers.size())) return false;
    const std::vector<Id> index = p_.GatherIndex(e);
    return static_cast<int32_t>(index.size()) == p_.buffers[e.bits].shape.count &&
           p_.buffers[e.bits].dtype == e.dtype && std::all_of(index.begin(), index.end(), [&](Id i) {
             return p_.exprs[i].op != Op::kTuple && p_.exprs[i].dtype == DType::kIndex;
           });
  }

  // --- the tree
  void CheckTree() {
    if (!Require(!p_.nodes.empty() && p_.nodes[0].kind == Node::Kind::kRoot, "node 0 is not the root"))
      return;
    CheckChildren(kRoot, 0);
  }

  void CheckChildren(Id parent, size_t depth) {
    if (!Require(depth <= p_.nodes.size(), "the tree has a cycle at node ", parent)) return;
    Id prev = kNone;
    size_t count = 0;
    for (Id n = p_.nodes[parent].first; ok() && n != kNone; prev = n, n = p_.nodes[n].next) {
      if (!Require(In(n, p_.nodes) && ++count <= p_.nodes.size(), "node ", parent,
                   " has a child out of range"))
        return;
      const Node& node = p_.nodes[n];
      Require(node.parent == parent && node.prev == prev, "node ", n, " has wrong links");
      Require(!node.prepare || parent == kRoot, "node ", n, " is prepared, but no child of the root");
      if (node.kind == Node::Kind::kLoop) {
        if (!Require(In(node.index, p_.loops) && In(p_.loops[node.index].name, p_.names), "node ", n,
                     " is no loop"))
          return;
        Require(ExtentOk(p_.loop(n).extent), "loop ", p_.Text(p_.loop(n).name), " has an extent of ",
                p_.loop(n).extent.UpperBound());
        Require(node.first != kNone, "loop ", p_.Text(p_.loop(n).name), " is empty");
        const Id pipeline = p_.loop(n).pipeline;
        if (!Require(pipeline == kNone ||
                         (In(pipeline, p_.pipelines) && In(p_.pipelines[pipeline].stages, p_.stages) &&
                          In(p_.pipelines[pipeline].rings, p_.rings)),
                     "loop ", p_.Text(p_.loop(n).name), " has a pipeline out of range"))
          return;
        for (const Ring& ring : p_.Rings(p_.loop(n)))
          Require(In(ring.buffer, p_.buffers), "a ring of loop ", p_.Text(p_.loop(n).name), " has no buffer");
      } else {
        if (!Require(node.kind == Node::Kind::kBlock && In(node.index, p_.blocks), "node ", n,
                     " in the tree is no loop or block"))
          return;
        const BlockNode& b = p_.block(n);
        Require(In(b.name, p_.names) && In(b.iters, p_.iters) && ListIn(b.domain, p_.marks) &&
                    In(b.dests, p_.accesses) && ListIn(b.values, p_.exprs) && ListIn(b.initial, p_.exprs) &&
                    ListIn(b.provenance.map, p_.marks) &&
                    (b.intrinsic == kNone || In(b.intrinsic, p_.names)) &&
                    (b.monoid == kNone || In(b.monoid, p_.monoids)),
                "block node ", n, " has ids out of range");
      }
      if (ok()) CheckChildren(n, depth + 1);
    }
    Require(p_.nodes[parent].last == prev, "node ", parent, " has a wrong last child");
  }

  void CheckParameters() {
    std::vector<int> count(p_.buffers.size(), 0);
    int statuses = 0;
    for (const Id b : p_.parameters) {
      if (Require(In(b, p_.buffers), "parameter ", b, " is no buffer")) ++count[b];
    }
    for (size_t b = 0; b < p_.buffers.size() && ok(); ++b) {
      const Buffer& buffer = p_.buffers[b];
      const bool local = buffer.role == Role::kTemporary || buffer.role == Role::kStatus;
      const int wanted = !local && buffer.data == kNone ? 1 : 0;
      if (buffer.role == Role::kScalar)
        Require(buffer.shape.count == 0, "scalar ", p_.Text(buffer.name), " has dimensions");
      if (buffer.role == Role::kStatus) {
        Require(buffer.shape.count == 0 && buffer.dtype == DType::kI32 && ++statuses == 1, "buffer ",
                p_.Text(buffer.name), " is no i32 of rank 0, or another status");
      }
      Require(count[b] == wanted, "buffer ", p_.Text(buffer.name), " is ", count[b],
              " times among the parameters, wanted ", wanted);
    }
  }

  // --- bindings
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
    for (const Split& s : p_.Splits(p_.marks[mark].splits)) {
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

  // Marks over the block's own iters.
  bool CheckOwn(Range marks, int iters, absl::string_view what) {
    for (const Id mark : p_.List(marks)) {
      for (const Split& s : p_.Splits(p_.marks[mark].splits)) {
        if (!Require(s.source.kind == Source::Kind::kIter && s.source.id < iters, what,
                     " is not over its own iters"))
          return false;
      }
    }
    return true;
  }

  // --- bodies
  void CheckBody(Id block) {
    const BlockNode& b = p_.block(block);
    Require(b.dests.count == b.values.count, "it has ", b.values.count, " values for ", b.dests.count,
            " destinations");
    Require(b.initial.count == 0 || (b.monoid != kNone && b.initial.count == b.dests.count && !b.accumulates),
            "it has initial values and is no reduction that starts with them");
    Require(!b.accumulates || b.monoid != kNone, "it accumulates without a monoid");
    if (b.monoid != kNone) {
      Require(p_.monoids[b.monoid].identity.count == b.dests.count, "its monoid has ",
              p_.monoids[b.monoid].identity.count, " results");
    }
    for (int r = 0; r < b.dests.count && ok(); ++r) CheckDest(block, r);
    const std::vector<Guard> none;
    seen_.clear();
    scopes_.clear();
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
    Require(!IsGiven(buffer.role), "it writes ", name, ", which is no output or temporary");
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

  // `scope` stands for the guards: shared operands are seen once in each.
  void CheckExpr(Id block, Id expr, const std::vector<Guard>& guards, int scope) {
    if (!ok() || !seen_.emplace(scope, expr).second) return;
    const Expr& e = p_.exprs[expr];
    const int iters = p_.block(block).iters.count;
    Require(e.op != Op::kArg, "its value has an argument of a monoid");
    if (e.op == Op::kIndex) {
      for (const Split& s : p_.Splits(p_.marks[e.a].splits)) {
        Require(s.source.kind == Source::Kind::kIter && s.source.id < iters,
                "an index is not over its own iters");
      }
    }
    if (e.op == Op::kLoad) {
      if (CheckOwn({e.b, e.c}, iters, "an index")) CheckBounds(block, e.a, {e.b, e.c}, guards);
      return;
    }
    if (e.op == Op::kWithin) {
      if (!CheckOwn(Program::WithinMarks(e), iters, "a guard")) return;
      std::vector<Guard> inside = guards;
      const Extents extents(p_, block);
      bool reached = true;
      for (const Id mark : p_.List(Program::WithinMarks(e))) {
        inside.push_back({p_.SumOf(mark), p_.marks[mark].extent.UpperBound()});
        const Interval bounds = Bounds(Simplify(inside.back().value, extents), extents);
        reached &= bounds.max >= 0 && bounds.min < inside.back().extent;
      }
      const int next = static_cast<int>(scopes_.size()) + 1;
      if (reached) CheckExpr(block, e.a, inside, scopes_.try_emplace({scope, expr}, next).first->second);
      CheckExpr(block, e.b, guards, scope);
      return;
    }
    const Id operands[3] = {e.a, e.b, e.c};
    for (int k = 0; k < Arity(e.op); ++k) CheckExpr(block, operands[k], guards, scope);
  }

  // Without guards every index is proven to lie in its dimension; with them it is not proven to lie outside.
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

  // --- order: what is read has been written by a block before, or in an iteration before
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

  const Program& p_;
  std::string where_;
  // Of the block at hand: scopes with the expressions seen there; by scope and guard, the scope within.
  absl::flat_hash_set<std::pair<int, Id>> seen_;
  absl::flat_hash_map<std::pair<int, Id>, int> scopes_;
  absl::Status status_;
};

}  // namespace

absl::Status Verify(const Program& program) {
  Id broken = kNone;
  return Verify(program, broken);
}

absl::Status Verify(const Program& program, Id& broken) { return Verifier(program).Run(broken); }

}  // namespace kiln
