#include "backends/lower/passes/plan_indices.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "backends/lower/passes/place_buffers.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/region.h"
#include "lang/base/check.h"
#include "lang/base/defect.h"

namespace kiln {
namespace {

// Splits a sum such that sum / divisor = result + rest / divisor. Returns the terms whose scale is a multiple of the
// divisor, divided by it. Leaves the rest in `sum`, with an offset such that its least value is in 0 .. divisor - 1.
IndexSum TakeMultiple(IndexSum& sum, int64_t divisor, ExtentOf extent_of) {
  IndexSum multiple, rest;
  sum = Simplify(sum, extent_of);
  for (IndexSplit split : sum.splits) {
    const bool divides = split.scale % divisor == 0;
    if (divides) split.scale /= divisor;
    (divides ? multiple : rest).splits.push_back(split);
  }
  const int64_t least = Bounds(rest, extent_of).min + sum.offset;
  multiple.offset = least / divisor - (least % divisor < 0);
  rest.offset = sum.offset - multiple.offset * divisor;
  sum = std::move(rest);
  return multiple;
}

class Planner {
 public:
  Planner(Program& program, const PlanOptions& options) : p_(program), options_(options) {}

  IndexPlan Run() {
    plan_.buffers.resize(p_.buffers.size());
    Visit(kRoot, false);
    PlaceBuffers(p_, options_, accesses_, plan_);
    return std::move(plan_);
  }

 private:
  // Plans a node, if it is a block, and the blocks below it in program order, so that an enclosing block comes before
  // the blocks inside it. `prepare`: the node is in a nest of the prepare phase.
  void Visit(Id node, bool prepare) {
    if (p_.IsBlock(node)) PlanBlock(node, prepare);
    for (Id child = p_.nodes[node].first; child != kNone; child = p_.nodes[child].next) {
      Visit(child, prepare || (node == kRoot && p_.nodes[child].prepare));
    }
  }

  int64_t ExtentOf(Source source, Id scope) const { return Extents(p_, scope)(source); }

  // Returns a mark for a sum: a variable that stands for its value where it must be divided. Equal sums get one mark.
  Id MarkOf(const IndexSum& sum, kiln::ExtentOf extent_of) {
    for (const Id mark : own_marks_)
      if (plan_.marks.at(mark) == sum) return mark;
    const Id mark = p_.AddMark(sum, std::max<int64_t>(1, Bounds(sum, extent_of).max + 1));
    plan_.marks[mark] = sum;
    own_marks_.push_back(mark);
    return mark;
  }

  // Returns (sum / lower) % extent, or sum / lower if the extent is 0. If the algebra cannot express this, takes the
  // terms that are multiples of the divisor (lower, or lower * extent) out of the sum. A mark gets the value of the
  // rest, and the result divides the mark. The result is exact.
  IndexSum Digit(IndexSum sum, int64_t lower, int64_t extent, kiln::ExtentOf extent_of) {
    if (lower == 1 && extent == 0) return sum;
    if (std::optional<IndexSum> digit = DivMod(sum, lower, extent, extent_of)) return *std::move(digit);
    IndexSum digit = TakeMultiple(sum, extent == 0 ? lower : lower * extent, extent_of);
    if (extent != 0) digit = {};  // the remainder of a multiple is 0
    digit.splits.push_back({Source::Mark(MarkOf(sum, extent_of)), 1, lower, extent});
    return digit;
  }

  // Returns `sum` with each iter replaced by its value in `iters`. Divides marks where the algebra cannot express a
  // quotient.
  IndexSum Replace(const IndexSum& sum, const std::vector<IndexSum>& iters, kiln::ExtentOf extent_of) {
    const auto definition = [&](Source source) -> std::optional<IndexSum> {
      if (source.kind != Source::Kind::kIter) return std::nullopt;
      return iters[source.id];
    };
    if (std::optional<IndexSum> whole = Substitute(sum, definition, extent_of))
      return Simplify(*whole, extent_of);
    IndexSum result = IndexSum::Constant(sum.offset);
    for (const IndexSplit& split : sum.splits) {
      const std::optional<IndexSum> value = definition(split.source);
      if (value.has_value()) {
        result = std::move(result) + Digit(*value, split.lower, split.extent, extent_of) * split.scale;
      } else {
        result.splits.push_back(split);
      }
    }
    return Simplify(result, extent_of);
  }

  // Returns a sum over iters, loops and marks of the block `scope`, rewritten as a sum over live loops and marks. Adds
  // the values of these marks to plan_.marks.
  IndexSum Ground(const IndexSum& sum, Id scope) {
    static const std::vector<IndexSum> none;
    const IndexSum result = Replace(sum, scope == kNone ? none : iters_[scope], [&](Source source) {
      return ExtentOf(source, source.kind == Source::Kind::kIter ? scope : kNone);
    });
    for (const IndexSplit& split : result.splits) {
      if (split.source.kind != Source::Kind::kMark || plan_.marks.count(split.source.id) > 0) continue;
      Resolver resolver(p_, scope);
      plan_.marks[split.source.id] = Ground(resolver.Resolve(split.source.id), scope);
    }
    return result;
  }

  void LoopsOf(const IndexSum& sum, std::vector<Id>& loops) const {
    for (const IndexSplit& split : sum.splits) {
      if (split.source.kind == Source::Kind::kMark) {
        LoopsOf(plan_.marks.at(split.source.id), loops);
      } else if (std::find(loops.begin(), loops.end(), split.source.id) == loops.end()) {
        loops.push_back(split.source.id);
      }
    }
  }

  // Returns the number of the condition 0 <= value < extent, and adds it if it is new; nullopt if it always holds.
  std::optional<int> AddCondition(const IndexSum& value, int64_t extent) {
    const Interval bounds = Bounds(value, Extents(p_));
    if (bounds.min >= 0 && bounds.max < extent) return std::nullopt;
    for (size_t i = 0; i < plan_.conditions.size(); ++i) {
      if (plan_.conditions[i].extent == extent && plan_.conditions[i].value == value)
        return static_cast<int>(i);
    }
    Condition condition{value, extent, {}};
    LoopsOf(value, condition.loops);
    plan_.conditions.push_back(std::move(condition));
    return static_cast<int>(plan_.conditions.size()) - 1;
  }

  std::vector<IndexSum> Logical(Id node, Range index) {
    const std::vector<int32_t> marks(p_.List(index).begin(), p_.List(index).end());
    std::vector<IndexSum> logical;
    for (const Id mark : marks) logical.push_back(Ground(p_.SumOf(mark), node));
    return logical;
  }

  // Returns the indices of a gather, a load whose indices may be computed values. A computed index becomes a mark (a
  // variable of index sums) without a definition. `computed` gets an entry for each index: this mark, or kNone.
  std::vector<IndexSum> GatherIndex(Id node, const Expr& e, std::vector<Id>& computed) {
    std::vector<IndexSum> logical;
    for (const Id mark : GatherMarks(p_, node, e)) {
      const Extent extent = p_.Dims(p_.buffers[e.AsGather().buffer].shape)[logical.size()];
      computed.push_back(mark == kNone ? p_.AddMark(IndexSum::Constant(0), extent) : kNone);
      logical.push_back(mark == kNone ? IndexSum::Of(Source::Mark(computed.back()))
                                      : Ground(p_.SumOf(mark), node));
    }
    return logical;
  }

  void AddAccess(Id node, bool prepare, Id buffer, std::vector<IndexSum> logical, IndexSum* address) {
    std::vector<int32_t> axes(p_.List(p_.buffers[buffer].layout.axes).begin(),
                              p_.List(p_.buffers[buffer].layout.axes).end());
    std::vector<IndexSum> physical = logical;
    if (!axes.empty()) {
      const std::vector<Extent> shape(p_.Dims(p_.buffers[buffer].shape).begin(),
                                      p_.Dims(p_.buffers[buffer].shape).end());
      physical.clear();
      for (const Id axis : axes) {
        physical.push_back(Replace(p_.SumOf(axis), logical, [&](Source source) {
          return source.kind == Source::Kind::kIter ? shape[source.id].Known() : ExtentOf(source, kNone);
        }));
      }
    }
    accesses_.push_back({node, prepare, buffer, std::move(physical), address});
  }

  void PlanExpr(Id node, bool prepare, Id id, BlockPlan& block) {
    if (!planned_.insert(id).second) return;
    const Expr e = p_.exprs[id];
    if (e.op == Op::kIndex) {
      block.values.emplace(id, Ground(p_.SumOf(e.AsIndex()), node));
    } else if (e.op == Op::kLoad) {
      AddAccess(node, prepare, e.AsLoad().buffer, Logical(node, e.AsLoad().index), &block.addresses[id]);
    } else if (e.op == Op::kGather) {
      AddAccess(node, prepare, e.AsGather().buffer, GatherIndex(node, e, block.gathers[id]),
                &block.addresses[id]);
    } else if (e.op == Op::kWithin) {
      std::vector<int> conditions;
      const Range range = e.AsWithin().marks;
      const std::vector<int32_t> marks(p_.List(range).begin(), p_.List(range).end());
      for (const Id mark : marks) {
        if (auto c = AddCondition(Ground(p_.SumOf(mark), node), p_.marks[mark].extent.Known()))
          conditions.push_back(*c);
      }
      block.within.emplace(id, std::move(conditions));
    }
    for (const Id operand : e.Operands()) PlanExpr(node, prepare, operand, block);
  }

  // Adds guards to a block that adds up products: the conditions under which no factor is 0 because it reads padding.
  // So terms that are 0 are skipped. Leaves out conditions that differ between vector lanes: masking the sum would cost
  // more than the select that zeroes the factor.
  void AddPaddingGuards(Id node, Id factor, BlockPlan& block, std::unordered_set<Id>& seen) {
    if (!seen.insert(factor).second) return;
    const Expr e = p_.exprs[factor];
    if (e.op == Op::kMul) {
      AddPaddingGuards(node, e.operand(0), block, seen);
      AddPaddingGuards(node, e.operand(1), block, seen);
    }
    if (e.op != Op::kWithin ||
        (!p_.exprs[e.AsWithin().otherwise].IsConstant(0) && !KILN_DEFECT("plan.indices.zero")))
      return;
    for (const int condition : block.within.at(factor)) {
      const bool lanes = absl::c_any_of(plan_.conditions[condition].loops, [&](Id loop) {
        return p_.loop(loop).kind == LoopKind::kVectorized && p_.loop(loop).extent.Known() > 1;
      });
      if (lanes || absl::c_linear_search(block.guards, condition)) continue;
      block.guards.push_back(condition);
      block.droppable.push_back(condition);
    }
  }

  void PlanBlock(Id node, bool prepare) {
    const Id scope = EnclosingBlock(p_, node);
    const Bindings bindings = ResolveBindings(p_, node);
    std::vector<IndexSum> iters;
    for (const IndexSum& sum : bindings.iters) iters.push_back(Ground(sum, scope));
    iters_[node] = std::move(iters);

    BlockPlan& block = plan_.blocks[node];
    for (const Guard& guard : bindings.guards) {
      const auto c = AddCondition(Ground(guard.value, scope), guard.extent);
      if (c.has_value() && !KILN_DEFECT("plan.indices.guard")) block.guards.push_back(*c);
    }
    const std::vector<Id> loops = LoopsAround(p_, node);
    const std::vector<bool> feeds = Feeds(p_, node, IterKind::kReduction);
    for (size_t i = 0; i < loops.size(); ++i) {
      const bool is_axis = IsThreadAxis(p_.loop(loops[i]).kind);
      if (feeds[i] && (!is_axis || AxisUse(p_, node, loops[i]).reduction))
        block.reduction_loops.push_back(loops[i]);
    }
    const BlockNode body = p_.block(node);
    const std::vector<int32_t> values(p_.List(body.values).begin(), p_.List(body.values).end());
    planned_.clear();
    for (const Id value : values) PlanExpr(node, prepare, value, block);
    const bool sum = body.monoid != kNone && p_.monoids[body.monoid].kind == Monoid::Kind::kSum;
    std::unordered_set<Id> seen;
    if (options_.drops_terms && sum && body.accumulates &&
        AnnotationOf(p_, body.annotations, kAssumeFinite) != 0)
      AddPaddingGuards(node, values[0], block, seen);
    block.dests.resize(body.dests.count);
    for (int r = 0; r < body.dests.count; ++r) {
      const Access dest = p_.accesses[body.dests.begin + r];
      AddAccess(node, prepare, dest.buffer, Logical(node, dest.index), &block.dests[r]);
    }
  }

  Program& p_;
  const PlanOptions& options_;
  IndexPlan plan_;
  std::unordered_map<Id, std::vector<IndexSum>> iters_;
  std::vector<Id> own_marks_;       // marks that are not of the program
  std::unordered_set<Id> planned_;  // expressions of the current block
  std::vector<PlannedAccess> accesses_;
};

}  // namespace

bool RunsOnThreads(const Program& program, Id node) {
  return program.IsLoop(node) && program.loop(node).kind == LoopKind::kParallel &&
         program.loop(node).extent.Known() > 1;
}

IndexPlan PlanIndices(Program& program, const PlanOptions& options) {
  return Planner(program, options).Run();
}

}  // namespace kiln
