#include "lang/schedule/factor_reduction.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/guards.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"
#include "lang/program/start.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

absl::Status CheckShape(const Program& p, const Bindings& bindings) {
  const Id block = bindings.block;
  const BlockNode& b = p.block(block);
  if (b.monoid == kNone) return No(absl::StrCat(Describe(p, block), " is not a reduction"));
  if (b.accumulates) return No(absl::StrCat(Describe(p, block), " is initialized by another block"));
  if (b.domain.count != 0) return No("the block's instances are not a box");
  if (p.nodes[block].first != kNone) return No(absl::StrCat(Describe(p, block), " has blocks within"));
  for (const Access& dest : p.Accesses(b.dests)) {
    if (Writers(p, dest.buffer).size() != 1)
      return No(absl::StrCat(p.Text(p.buffers[dest.buffer].name), " has other writers"));
  }
  if (HasInnerGuards(p, bindings)) {
    return No(
        absl::StrCat("the tiles of ", Describe(p, block), " are imperfect at more than their last level"));
  }
  return absl::OkStatus();
}

absl::Status CheckBody(const Program& p, Id block, const Parts& parts) {
  const BlockNode& b = p.block(block);
  const auto rule = [&](int i) { return parts.old_iters[i]; };
  for (const Range list : {b.values, b.initial}) {
    for (const Id value : p.List(list)) {
      if (!CanSubstitute(p, value, rule, parts.extents))
        return No("an index cannot be expressed in the parts' iters");
    }
  }
  for (const Id mark : p.List(b.provenance.map)) {
    if (!Substitute(
             p.SumOf(mark), [&](Source s) { return std::optional<IndexSum>(rule(s.id)); },
             [&](Source s) { return parts.extents[s.id]; })
             .has_value())
      return No("the block's origin cannot be expressed in the parts' iters");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Parts> FactorReduction(const Program& p, Id block,
                                      const std::function<bool(Id loop)>& is_outer) {
  Parts parts;
  parts.bindings = ResolveBindings(p, block);
  absl::Status status = CheckShape(p, parts.bindings);
  if (!status.ok()) return status;
  const std::vector<Id> loops = LoopsAround(p, block);
  const std::vector<bool> reduces = Feeds(p, block, IterKind::kReduction),
                          spatial = Feeds(p, block, IterKind::kSpatial);
  for (size_t i = 0; i < loops.size(); ++i) {
    if (!reduces[i]) continue;
    if (spatial[i]) return No(absl::StrCat(Describe(p, loops[i]), " feeds spatial and reduction iters"));
    (is_outer(loops[i]) ? parts.outer : parts.inner).push_back(loops[i]);
  }
  const auto iters = p.Iters(p.block(block).iters);
  size_t next = 0;
  for (const Iter& iter : iters) {
    if (iter.kind == IterKind::kSpatial) parts.extents.push_back(iter.extent.Known());
  }
  std::vector<Id> sources(parts.extents.size(), kNone);
  for (const std::vector<Id>* list : {&parts.outer, &parts.inner}) {
    for (const Id loop : *list) {
      sources.push_back(loop);
      parts.extents.push_back(p.loop(loop).extent.Known());
    }
  }
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].kind == IterKind::kSpatial) {
      parts.old_iters.push_back(IndexSum::Of(Source::Iter(static_cast<int32_t>(next++))));
      continue;
    }
    IndexSum sum = parts.bindings.iters[i];
    for (IndexSplit& split : sum.splits) {
      if (split.source.kind != Source::Kind::kLoop)
        return No("the reduction's index divides what cannot be divided");
      if (split.scale < 0) return No("the reduction's index runs downwards");
      const auto at = std::find(sources.begin(), sources.end(), split.source.id);
      split.source = Source::Iter(static_cast<int32_t>(at - sources.begin()));
    }
    parts.old_iters.push_back(sum);
  }
  status = CheckBody(p, block, parts);
  if (!status.ok()) return status;
  return parts;
}

absl::Status CheckStartMayLeave(const Program& p, Id block, Id scope) {
  std::vector<Id> producers = Producers(p, block);
  std::erase_if(producers, [&](Id producer) {
    return absl::c_none_of(WrittenBuffers(p, producer), [&](Id b) { return ReadsInitially(p, block, b); });
  });
  return CheckMayLeave(p, block, producers, scope);
}

absl::StatusOr<std::vector<DimRange>> SpatialRanges(const Program& p, const Parts& parts, Id scope) {
  std::vector<DimRange> ranges;
  const auto iters = p.Iters(p.block(parts.bindings.block).iters);
  for (int i = 0; i < static_cast<int>(iters.size()); ++i) {
    if (iters[i].kind != IterKind::kSpatial) continue;
    const std::optional<DimRange> range = IterRange(p, parts.bindings, i, scope);
    if (!range.has_value() || !range->dense) {
      return No(absl::StrCat("one iteration of ", Describe(p, scope), " has a part with gaps of iter ",
                             p.Text(iters[i].name)));
    }
    ranges.push_back(*range);
  }
  return ranges;
}

namespace {

// Returns the iters of the block that computes partial results: the spatial ones of the old block, then one for each
// outer and inner loop.
std::vector<Iter> PartIters(Program& p, Range old, const Parts& parts) {
  std::vector<Iter> iters;
  for (const Iter& iter : p.Iters(old)) {
    if (iter.kind == IterKind::kSpatial) iters.push_back(iter);
  }
  const auto add = [&](const std::vector<Id>& loops, IterKind kind) {
    for (const Id loop : loops) {
      const Extent extent = p.loop(loop).extent;
      iters.push_back({p.loop(loop).name, extent, kind, p.AddMark(IndexSum::Of(Source::Loop(loop)), extent)});
    }
  };
  add(parts.outer, IterKind::kSpatial);
  add(parts.inner, IterKind::kReduction);
  return iters;
}

// What the two blocks of a factored reduction store, one entry for each result. `part_` lists are of the block that
// computes partial results, `combine_` lists of the block that combines them.
struct Stores {
  std::vector<int32_t> part_values, combine_values, combine_initial;
  std::vector<Access> part_dests, combine_dests;
};

// Adds a workspace for the partial results of each result of a reduction: its shape is the result's, with the
// dimensions of `outer` (new iters and extents) inserted at `axis`. Returns what the block with partial results and the
// combining block store.
Stores AddWorkspaces(Program& p, const BlockNode& old, BodyRewriter& rewriter,
                     const std::vector<std::pair<Source, int64_t>>& outer, absl::string_view suffix,
                     Scope scope, int axis) {
  Stores stores;
  for (int r = 0; r < old.dests.count; ++r) {
    const Access dest = p.accesses[old.dests.begin + r];
    const Buffer target = p.buffers[dest.buffer];
    const auto old_shape = p.Dims(target.shape);
    std::vector<Extent> shape(old_shape.begin(), old_shape.end());
    std::vector<int32_t> index, part_index;
    for (int d = 0; d < dest.index.count; ++d) index.push_back(rewriter.Index(p.lists[dest.index.begin + d]));
    part_index = index;
    for (size_t i = outer.size(); i-- > 0;) {
      const auto& [iter, extent] = outer[i];
      shape.insert(shape.begin() + axis, Extent(extent));
      part_index.insert(part_index.begin() + axis, p.AddMark(IndexSum::Of(iter), extent));
    }
    const std::string name = p.FreshName(absl::StrCat(p.Text(target.name), suffix));
    const Id workspace = p.AddBuffer(name, target.dtype, shape, Role::kTemporary, scope);
    const Range part_list = p.AddList(part_index);
    stores.part_dests.push_back({workspace, part_list});
    stores.combine_dests.push_back({dest.buffer, p.AddList(index)});
    stores.combine_values.push_back(p.AddExpr(Expr::Load(target.dtype, workspace, part_list)));
    stores.part_values.push_back(rewriter.Expression(p.lists[old.values.begin + r]));
    if (old.initial.count != 0)
      stores.combine_initial.push_back(rewriter.Expression(p.lists[old.initial.begin + r]));
  }
  return stores;
}

// Marks (index values with an extent) of a factored reduction. An instance of the block with partial results exists if
// the marks of `part` lie in their extents; for the combining block, those of `combine`. `map` has the old iters.
struct Instances {
  std::vector<int32_t> part, combine, map;
};

// Computes which instances of the two blocks of a factored reduction exist: those in which the old iters stay in their
// extents. Only iters that may exceed theirs give a condition. Iters from the position `inner` on belong to inner
// loops.
Instances InstancesOf(Program& p, const BlockNode& old, const Parts& parts, int inner) {
  const auto most = [&](const IndexSum& sum) {
    return Bounds(sum, [&](Source s) { return parts.extents[s.id]; }).max;
  };
  Instances instances;
  for (int i = 0; i < old.iters.count; ++i) {
    const Extent extent = p.iters[old.iters.begin + i].extent;
    const Id mark = p.AddMark(parts.old_iters[i], extent);
    instances.map.push_back(mark);
    if (most(parts.old_iters[i]) < extent.Known()) continue;
    instances.part.push_back(mark);
    // Adds the condition of the combining block, with 0 for the inner iters: a partial result may be read only if it
    // was initialized, that is, if its first instance exists.
    IndexSum first = parts.old_iters[i];
    const auto is_inner = [&](const IndexSplit& s) { return s.source.id >= inner; };
    first.splits.erase(std::remove_if(first.splits.begin(), first.splits.end(), is_inner),
                       first.splits.end());
    if (most(first) >= extent.Known()) instances.combine.push_back(p.AddMark(first, extent));
  }
  return instances;
}

Range AddIters(Program& p, absl::Span<const Iter> iters) {
  const Range range{static_cast<int32_t>(p.iters.size()), static_cast<int32_t>(iters.size())};
  p.iters.insert(p.iters.end(), iters.begin(), iters.end());
  return range;
}

Range AddAccesses(Program& p, const std::vector<Access>& accesses) {
  const Range range{static_cast<int32_t>(p.accesses.size()), static_cast<int32_t>(accesses.size())};
  p.accesses.insert(p.accesses.end(), accesses.begin(), accesses.end());
  return range;
}

Id AddCombine(Program& p, const BlockNode& old, absl::Span<const Iter> spatial, absl::Span<const Iter> outer,
              const Stores& stores, const Instances& instances) {
  std::vector<Iter> iters(spatial.begin(), spatial.end());
  for (Iter iter : outer) {
    iter.kind = IterKind::kReduction;
    iters.push_back(iter);
  }
  BlockNode combine;
  combine.name = p.AddName(p.FreshName(absl::StrCat(p.Text(old.name), ".combine")));
  combine.iters = AddIters(p, iters);
  combine.monoid = old.monoid;
  combine.dests = AddAccesses(p, stores.combine_dests);
  combine.values = p.AddList(stores.combine_values);
  combine.initial = p.AddList(stores.combine_initial);
  combine.domain = p.AddList(instances.combine);
  combine.provenance = {old.provenance.kind, old.provenance.origin, {}};  // kPartial stays kPartial
  combine.annotations = old.annotations;
  return p.AddBlock(combine);
}

}  // namespace

Id BuildPartial(Program& p, Id block, const Parts& parts, absl::string_view suffix, Scope scope, int axis) {
  const BlockNode old = p.block(block);
  const std::vector<Iter> iters = PartIters(p, old.iters, parts);
  const size_t inner = iters.size() - parts.inner.size(), spatial = inner - parts.outer.size();
  std::vector<std::pair<Source, int64_t>> outer;
  for (size_t i = spatial; i < inner; ++i)
    outer.emplace_back(Source::Iter(static_cast<int32_t>(i)), parts.extents[i]);
  BodyRewriter rewriter(p, nullptr, [&](int i) { return parts.old_iters[i]; }, parts.extents);
  const Stores stores = AddWorkspaces(p, old, rewriter, outer, suffix, scope, axis);
  Instances instances = InstancesOf(p, old, parts, static_cast<int>(inner));
  if (old.provenance.map.count != 0) {
    instances.map.clear();
    for (int i = 0; i < old.provenance.map.count; ++i)
      instances.map.push_back(rewriter.Index(p.lists[old.provenance.map.begin + i]));
  }
  const auto all = absl::MakeConstSpan(iters);
  const Id combine =
      AddCombine(p, old, all.first(spatial), all.subspan(spatial, outer.size()), stores, instances);

  BlockNode partial = old;
  partial.iters = AddIters(p, all);
  partial.domain = p.AddList(instances.part);
  partial.dests = AddAccesses(p, stores.part_dests);
  partial.values = p.AddList(stores.part_values);
  partial.initial = {};
  if (parts.inner.empty()) {
    partial.monoid = kNone;
  } else if (old.initial.count != 0 && IsFloatSum(p, p.monoids[old.monoid])) {
    const Monoid& sum = p.monoids[old.monoid];
    const DType dtype = p.exprs[p.List(sum.identity)[0]].dtype;
    partial.initial = p.AddList({p.AddExpr(Expr::Constant(dtype, NeutralBits(p, sum, 0)))});
  }
  partial.provenance = {Provenance::Kind::kPartial, old.provenance.origin, p.AddList(instances.map)};
  p.block(block) = partial;
  return combine;
}

}  // namespace kiln
