#include "backends/lower/passes/decompose_reductions.h"

#include <algorithm>
#include <unordered_map>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/base/check.h"
#include "lang/program/expr_copier.h"
#include "lang/program/start.h"

namespace kiln {
namespace {

std::vector<Id> Ids(absl::Span<const int32_t> list) { return {list.begin(), list.end()}; }

std::vector<Id> InitialValues(const Program& p, const BlockNode& block) {
  return Ids(p.List(block.initial.count > 0 ? block.initial : p.monoids[block.monoid].identity));
}

void MakePlainStore(Program& p, Id node) {
  const BlockNode block = p.block(node);
  std::vector<Id> arguments = InitialValues(p, block);
  for (const Id value : p.List(block.values)) arguments.push_back(value);
  ExprCopier combine(p, p, {.replace = [&](Id id) {
                       const Expr& e = p.exprs[id];
                       return e.op == Op::kArg ? arguments[e.Number()] : kNone;
                     }});
  std::vector<Id> values;
  const bool lift_alone = StartsNeutral(p, block);
  for (const Id result : Ids(p.List(p.monoids[block.monoid].combine))) {
    values.push_back(lift_alone ? p.List(block.values)[values.size()] : combine.Copy(result));
  }
  p.block(node).values = p.AddList(values);
  p.block(node).monoid = kNone;
  std::vector<Iter> iters(p.Iters(block.iters).begin(), p.Iters(block.iters).end());
  for (Iter& iter : iters) iter.kind = IterKind::kSpatial;  // without a monoid, there are no others
  p.block(node).iters = {static_cast<int32_t>(p.iters.size()), static_cast<int32_t>(iters.size())};
  p.iters.insert(p.iters.end(), iters.begin(), iters.end());
  p.block(node).initial = {};
}

// Rewrites index sums over loops: replaces each loop that has a copy (Map) by its copy, also in the sums that marks
// stand for.
class Rebind {
 public:
  Rebind(Program& program, Resolver& resolver) : program_(program), resolver_(resolver) {}
  void Map(Id loop, Id copy) { copies_[loop] = copy; }

  IndexSum operator()(IndexSum sum) {
    for (IndexSplit& split : sum.splits) {
      if (split.source.kind == Source::Kind::kLoop) {
        const auto copy = copies_.find(split.source.id);
        if (copy != copies_.end()) split.source.id = copy->second;
      } else if (split.source.kind == Source::Kind::kMark) {
        const Extent extent = program_.marks[split.source.id].extent;
        split.source.id = program_.AddMark((*this)(resolver_.Resolve(split.source.id)), extent);
      }
    }
    return sum;
  }

 private:
  Program& program_;
  Resolver& resolver_;
  std::unordered_map<Id, Id> copies_;
};

// True if a sum depends on a loop that satisfies `is`, also through the marks in it.
bool DependsOn(const IndexSum& sum, Resolver& resolver, absl::FunctionRef<bool(Id)> is) {
  return absl::c_any_of(sum.splits, [&](const IndexSplit& split) {
    const Source source = split.source;
    if (source.kind == Source::Kind::kMark) return DependsOn(resolver.Resolve(source.id), resolver, is);
    return source.kind == Source::Kind::kLoop && is(source.id);
  });
}

// Returns the kind for the copy of a loop around an initialization block. A pipelined loop becomes serial, since the
// initialization is in none of its stages.
LoopKind KindOfCopy(LoopKind kind) { return kind == LoopKind::kPipelined ? LoopKind::kSerial : kind; }

void InsertInit(Program& p, Id node, const std::vector<Id>& loops, size_t outermost) {
  const std::vector<bool> spatial = Feeds(p, node, IterKind::kSpatial);
  const Bindings bindings = ResolveBindings(p, node);
  Resolver resolver(p, EnclosingBlock(p, node));
  Rebind rebind(p, resolver);
  Id parent = kNone, top = kNone;
  const auto attach = [&](Id made) {
    if (parent == kNone) {
      p.InsertBefore(loops[outermost], made);
      top = made;
    } else {
      p.Append(parent, made);
    }
    parent = made;
  };
  for (size_t i = outermost; i < loops.size(); ++i) {
    if (!spatial[i]) continue;
    const LoopNode loop = p.loop(loops[i]);
    const Id copy = p.AddLoop(p.Text(loop.name), loop.extent, KindOfCopy(loop.kind));
    p.loop(copy).tainted = loop.tainted;
    rebind.Map(loops[i], copy);
    attach(copy);
  }

  const BlockNode block = p.block(node);
  const std::vector<Iter> old(p.Iters(block.iters).begin(), p.Iters(block.iters).end());
  std::vector<Iter> iters;
  for (size_t i = 0; i < old.size(); ++i) {
    Iter iter = old[i];
    // A reduction iter becomes a spatial iter that is always 0, so that the other iters keep their positions.
    const bool moves = iter.kind == IterKind::kSpatial;
    iter.kind = IterKind::kSpatial;
    iter.binding = p.AddMark(moves ? rebind(bindings.iters[i]) : IndexSum::Constant(0), iter.extent);
    iters.push_back(iter);
  }
  // True for a loop that is neither around the initialization nor copied there.
  const auto is_left = [&](Id loop) {
    const size_t i = absl::c_find(loops, loop) - loops.begin();
    return i >= outermost && i < loops.size() && !spatial[i];
  };
  // Copies each guard that depends only on loops around the initialization or copied there. The copy is an iter whose
  // extent keeps out instances for which the guard fails.
  for (const Guard& guard : bindings.guards) {
    if (DependsOn(guard.value, resolver, is_left)) continue;
    iters.push_back(
        {p.AddName("guard"), guard.extent, IterKind::kSpatial, p.AddMark(rebind(guard.value), guard.extent)});
  }

  BlockNode init;
  init.name = p.AddName(p.FreshName(absl::StrCat(p.Text(block.name), ".init")));
  init.iters = {static_cast<int32_t>(p.iters.size()), static_cast<int32_t>(iters.size())};
  p.iters.insert(p.iters.end(), iters.begin(), iters.end());
  init.dests = block.dests;
  init.values = p.AddList(InitialValues(p, block));
  init.provenance.kind = Provenance::Kind::kInit;
  init.provenance.origin = block.provenance.origin;
  attach(p.AddBlock(init));
  p.block(node).accumulates = true;
  p.block(node).initial = {};
}

// True if it is proven that for every element of the result, the first instance of the reduction that runs is the one
// where all reduction loops are at 0.
bool FirstIsAtZero(const Program& p, Id node, const std::vector<Id>& loops,
                   const std::vector<bool>& reduction) {
  const auto depends = [&](const IndexSum& sum, bool on_reduction) {
    return std::any_of(sum.splits.begin(), sum.splits.end(), [&](const IndexSplit& split) {
      if (split.source.kind != Source::Kind::kLoop) return true;
      const size_t i = std::find(loops.begin(), loops.end(), split.source.id) - loops.begin();
      return i == loops.size() || (reduction[i] == on_reduction && p.loop(loops[i]).extent.Known() > 1);
    });
  };
  const Bindings bindings = ResolveBindings(p, node);
  for (const Guard& guard : bindings.guards) {
    if (depends(guard.value, true)) return false;
  }
  const auto iters = p.Iters(p.block(node).iters);
  for (size_t i = 0; i < iters.size(); ++i) {
    const IndexSum& binding = bindings.iters[i];
    if (depends(binding, iters[i].kind == IterKind::kSpatial)) return false;
    if (iters[i].kind == IterKind::kReduction &&
        (binding.offset < 0 || binding.offset >= iters[i].extent.Known()))
      return false;
  }
  for (const Id mark : p.List(p.block(node).domain)) {
    const IndexSum sum = p.SumOf(mark);
    const auto of = [&](IterKind kind) {
      return std::any_of(sum.splits.begin(), sum.splits.end(), [&](const IndexSplit& split) {
        return split.source.kind != Source::Kind::kIter || iters[split.source.id].kind == kind;
      });
    };
    const bool in = sum.offset >= 0 && sum.offset < p.marks[mark].extent.Known();
    if (of(IterKind::kReduction) && (of(IterKind::kSpatial) || !in)) return false;
  }
  return true;
}

// Decomposes one reduction: makes it a plain store if it has no reduction loops, else inserts a block before it that
// initializes the result, or leaves it as it is if its first instance can store instead (`starts_inside`).
//
// A reduction across threads of a GPU alone stays as it is if it has no initial values: the threads combine their
// values, and one of them stores the result. If it has initial values or further reduction loops, only this thread runs
// the initialization.
void Decompose(Program& p, Id node, bool starts_inside) {
  const std::vector<Id> loops = LoopsAround(p, node);
  const std::vector<bool> reduction = Feeds(p, node, IterKind::kReduction);
  const auto reduces = [&](size_t i) { return reduction[i] && p.loop(loops[i]).extent.Known() > 1; };
  const auto repeats = [&](size_t i) { return reduces(i) && !IsThreadAxis(p.loop(loops[i]).kind); };
  size_t outermost = 0, innermost = loops.size();
  while (outermost < loops.size() && !reduces(outermost)) ++outermost;
  if (outermost == loops.size()) return MakePlainStore(p, node);
  while (innermost > 0 && !repeats(innermost - 1)) --innermost;
  if (innermost-- == 0) {  // across threads alone
    if (p.block(node).initial.count > 0) InsertInit(p, node, loops, outermost);
    return;
  }
  bool lanes = false;
  for (size_t i = 0; i < loops.size(); ++i)
    lanes |= repeats(i) && p.loop(loops[i]).kind == LoopKind::kVectorized;
  const bool others = BlocksBelow(p, loops[innermost]).size() > 1;
  const bool skips =
      AnnotationOf(p, p.block(node).annotations, kAssumeFinite) != 0 &&  // may drop the first term
      absl::c_any_of(BodyExprs(p, node), [&](Id e) { return p.exprs[e].op == Op::kWithin; });
  if (starts_inside && others && !lanes && !skips &&
      (p.block(node).initial.count == 0 || StartsNeutral(p, p.block(node))) &&
      FirstIsAtZero(p, node, loops, reduction))
    return;
  InsertInit(p, node, loops, outermost);
}

}  // namespace

void DecomposeReductions(Program& program, bool starts_inside) {
  const Id count = static_cast<Id>(program.nodes.size());
  for (Id node = 0; node < count; ++node) {
    if (!program.IsBlock(node) || program.nodes[node].parent == kNone) continue;
    const BlockNode& block = program.block(node);
    if (block.monoid != kNone && !block.accumulates) Decompose(program, node, starts_inside);
  }
}

}  // namespace kiln
