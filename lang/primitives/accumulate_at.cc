// accumulate-at
//
//   for ko: for i:                         for ko: for i:
//     for ki: C[i] sum= f(i, ko, ki)   ->    for ki: acc[ko, i] sum= f(i, ko, ki)
//                                            C[i] sum= acc[ko, i]
//
// Partial sums of what one iteration of the given loop reduces (here i) are made in a private buffer, and
// combined into the destination at its end. Without a reduction loop outside, the combination is a plain
// store. Logically acc has an element for every partial sum; lowering keeps what is live, which is registers
// where the tile below is unrolled.
#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/guards.h"
#include "lang/analysis/placement.h"
#include "lang/analysis/region.h"
#include "lang/defect.h"
#include "lang/primitive.h"
#include "lang/rewrite.h"

namespace kiln {
namespace {

// The block's new iters: the old spatial ones, one for each outer loop that feeds the reduction, one for each
// inner.
struct Partition {
  Bindings bindings;
  std::vector<Id> outer, inner;
  std::vector<Sum> old_iters;  // in terms of the new
};

absl::StatusOr<Partition> PartitionOf(const Program& p, Id block, Id loop) {
  const BlockNode& b = p.block(block);
  if (b.monoid == kNone)
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), " is no reduction"));
  if (b.accumulates)
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, block), " is initialized by another block"));
  if (b.dests.count != 1)
    return absl::FailedPreconditionError(absl::StrCat(Describe(p, block), " has several results"));
  if (b.domain.count != 0) return absl::FailedPreconditionError("the block's instances are not a box");
  if (const absl::Status status = CheckNotWithin(p, block); !status.ok()) return status;
  const std::vector<Id> loops = LoopsAround(p, block);
  const auto at = std::find(loops.begin(), loops.end(), loop);
  if (at == loops.end())
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p, loop), " is not around ", Describe(p, block)));
  if (Writers(p, p.Accesses(b.dests)[0].buffer).size() != 1)
    return absl::FailedPreconditionError("the destination has other writers");
  for (const Id reader : Readers(p, p.Accesses(b.dests)[0].buffer)) {
    if (IsAncestor(p, ChildTowards(p, loop, block), reader) && !KILN_DEFECT("accumulate-at.early-reader")) {
      return absl::FailedPreconditionError(
          absl::StrCat(Describe(p, reader), " reads the destination before the end of ", Describe(p, loop)));
    }
  }
  Partition partition{ResolveBindings(p, block), {}, {}, {}};
  const Bindings& bindings = partition.bindings;
  if (HasInnerGuards(p, bindings)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the tiles of ", Describe(p, block), " are imperfect at more than their last level"));
  }
  partition.old_iters.reserve(b.iters.count);
  const std::vector<bool> reduces = Feeds(p, block, IterKind::kReduction),
                          spatial = Feeds(p, block, IterKind::kSpatial);
  for (size_t i = 0; i < loops.size(); ++i) {
    if (!reduces[i]) continue;
    if (spatial[i]) {
      return absl::FailedPreconditionError(
          absl::StrCat(Describe(p, loops[i]), " feeds spatial and reduction iters"));
    }
    (loops.begin() + static_cast<int64_t>(i) <= at ? partition.outer : partition.inner).push_back(loops[i]);
  }
  int spatial_count = 0;
  for (const Iter& iter : p.Iters(b.iters)) spatial_count += iter.kind == IterKind::kSpatial;
  const auto position = [&](Id l) {
    for (size_t i = 0; i < partition.outer.size(); ++i) {
      if (partition.outer[i] == l) return spatial_count + static_cast<int>(i);
    }
    const auto in = std::find(partition.inner.begin(), partition.inner.end(), l);
    return spatial_count + static_cast<int>(partition.outer.size() + (in - partition.inner.begin()));
  };
  int next = 0;
  for (size_t i = 0; i < bindings.iters.size(); ++i) {
    if (p.Iters(b.iters)[i].kind == IterKind::kSpatial) {
      partition.old_iters.push_back(Sum::Of(Source::Iter(next++)));
      continue;
    }
    Sum sum = bindings.iters[i];
    for (Split& split : sum.splits) {
      if (split.source.kind != Source::Kind::kLoop)
        return absl::FailedPreconditionError("the reduction's index divides what cannot be divided");
      if (split.scale < 0) return absl::FailedPreconditionError("the reduction's index runs downwards");
      split.source = Source::Iter(position(split.source.id));
    }
    partition.old_iters.push_back(sum);
  }
  return partition;
}

absl::Status AccumulateAt(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0), loop = call.node(1);
  const absl::StatusOr<Partition> partition = PartitionOf(p, block, loop);
  if (!partition.ok()) return partition.status();
  const std::optional<Storage> storage = ParseStorage(call.Text(0));
  if (!storage.has_value())
    return absl::InvalidArgumentError(absl::StrCat("there is no storage \"", call.Text(0), "\""));

  const BlockNode old = p.block(block);
  const Access dest = p.Accesses(old.dests)[0];
  std::vector<DimRange> ranges;  // of the spatial iters, in one iteration of the loop
  ranges.reserve(old.iters.count);
  for (int i = 0; i < old.iters.count; ++i) {
    if (p.Iters(old.iters)[i].kind != IterKind::kSpatial) continue;
    const std::optional<DimRange> range = IterRange(p, partition->bindings, i, loop);
    if (!range.has_value() || !range->dense) {
      return absl::FailedPreconditionError(absl::StrCat("one iteration of ", Describe(p, loop),
                                                        " has a part with gaps of iter ",
                                                        p.Text(p.Iters(old.iters)[i].name)));
    }
    ranges.push_back(*range);
  }
  std::vector<Iter> iters;
  iters.reserve(old.iters.count + partition->outer.size() + partition->inner.size());
  for (const Iter& iter : p.Iters(old.iters)) {
    if (iter.kind == IterKind::kSpatial) iters.push_back(iter);
  }
  const size_t spatial = iters.size();
  const auto add = [&](const std::vector<Id>& loops, IterKind kind) {
    for (const Id l : loops) {
      const Extent extent = p.loop(l).extent;
      iters.push_back({p.loop(l).name, extent, kind, p.AddMark(Sum::Of(Source::Loop(l)), extent)});
    }
  };
  add(partition->outer, IterKind::kSpatial);
  add(partition->inner, IterKind::kReduction);
  std::vector<int64_t> extents;
  extents.reserve(iters.size());
  for (const Iter& iter : iters) extents.push_back(iter.extent.max);
  const auto iter_rule = [&](int i) { return partition->old_iters[i]; };
  const Id value = p.List(old.values)[0];
  if (!CanSubstitute(p, value, iter_rule, extents))
    return absl::FailedPreconditionError("an index cannot be expressed in the parts' iters");

  // acc[outer..., dest...]
  const auto shape = p.Dims(p.buffers[dest.buffer].shape);
  std::vector<Extent> acc_shape;
  acc_shape.reserve(partition->outer.size() + shape.size());
  for (const Id l : partition->outer) acc_shape.push_back(p.loop(l).extent);
  acc_shape.insert(acc_shape.end(), shape.begin(), shape.end());
  const std::string acc_name = p.FreshName(absl::StrCat(p.Text(p.buffers[dest.buffer].name), ".acc"));
  const Id acc =
      p.AddBuffer(acc_name, p.buffers[dest.buffer].dtype, acc_shape, Role::kTemporary, ScopeOf(*storage));

  BodyRewriter rewriter(p, nullptr, iter_rule, extents);
  std::vector<int32_t> acc_index, dest_index;
  for (size_t i = 0; i < partition->outer.size(); ++i) {
    acc_index.push_back(
        p.AddMark(Sum::Of(Source::Iter(static_cast<int32_t>(spatial + i))), extents[spatial + i]));
  }
  for (int d = 0; d < dest.index.count; ++d) {
    dest_index.push_back(rewriter.Index(p.lists[dest.index.begin + d]));
    acc_index.push_back(dest_index.back());
  }
  const auto bound = [&](const Sum& sum) { return Bounds(sum, [&](Source s) { return extents[s.id]; }); };
  std::vector<int32_t> domain, map, combine_domain;
  for (int i = 0; i < old.iters.count; ++i) {
    const Extent extent = p.iters[old.iters.begin + i].extent;
    const Id mark = p.AddMark(partition->old_iters[i], extent);
    map.push_back(mark);
    const Interval bounds = bound(partition->old_iters[i]);
    if (bounds.min >= 0 && bounds.max < extent.max) continue;
    domain.push_back(mark);
    // There is a part to combine where its first value exists: at 0 of the inner iters.
    Sum first = partition->old_iters[i];
    const auto inner = [&](const Split& s) {
      return s.source.id >= static_cast<int>(spatial + partition->outer.size());
    };
    first.splits.erase(std::remove_if(first.splits.begin(), first.splits.end(), inner), first.splits.end());
    if (bound(first).max >= extent.max) combine_domain.push_back(p.AddMark(first, extent));
  }
  const Id part_value = rewriter.Expression(value);
  const Range acc_list = p.AddList(acc_index), dest_list = p.AddList(dest_index);

  const auto add_iters = [&](size_t count) {
    const Range range{static_cast<int32_t>(p.iters.size()), static_cast<int32_t>(count)};
    p.iters.insert(p.iters.end(), iters.begin(), iters.begin() + static_cast<int64_t>(count));
    return range;
  };
  BlockNode combine;  // spatial iters and the outer loops as its reduction
  combine.name = p.AddName(p.FreshName(absl::StrCat(p.Text(old.name), ".combine")));
  combine.iters = add_iters(spatial + partition->outer.size());
  for (size_t i = 0; i < partition->outer.size(); ++i) {
    p.iters[combine.iters.begin + spatial + i].kind = IterKind::kReduction;
  }
  Id acc_load = p.AddExpr({Op::kLoad, p.buffers[acc].dtype, acc, acc_list.begin, acc_list.count, 0});
  combine.dests = {static_cast<int32_t>(p.accesses.size()), 1};
  p.accesses.push_back({dest.buffer, dest_list});
  combine.provenance = {Provenance::Kind::kCompute, old.provenance.origin, {}};
  if ((!partition->outer.empty() && !KILN_DEFECT("accumulate-at.store")) || old.initial.count != 0) {
    combine.monoid = old.monoid;
    if (old.initial.count != 0) {
      const Id initial = rewriter.Expression(p.lists[old.initial.begin]);
      combine.initial = p.AddList({initial});
    }
  }
  combine.values = p.AddList({acc_load});
  if (KILN_DEFECT("accumulate-at.domain")) combine_domain.clear();
  combine.domain = p.AddList(combine_domain);
  combine.annotations = old.annotations;
  const Id combine_node = p.AddBlock(combine);

  BlockNode partial = old;
  partial.iters = add_iters(iters.size());
  partial.domain = p.AddList(domain);
  partial.values = p.AddList({part_value});
  if (!KILN_DEFECT("accumulate-at.initial-twice")) partial.initial = {};
  partial.dests = {static_cast<int32_t>(p.accesses.size()), 1};
  p.accesses.push_back({acc, acc_list});
  partial.provenance = {Provenance::Kind::kPartial, old.provenance.origin, p.AddList(map)};
  p.block(block) = partial;

  // The combination's spatial loops cover what one iteration of the loop made; its reduction iters are the
  // outer loops themselves.
  const Range all = p.block(combine_node).iters;
  p.block(combine_node).iters.count = static_cast<int32_t>(spatial);
  const Id nest = NestOver(p, combine_node, ranges, true);
  p.block(combine_node).iters = all;
  p.InsertAfter(ChildTowards(p, loop, block), nest);
  call.Return(combine_node);
  return absl::OkStatus();
}

const Primitive kAccumulateAt{
    .name = "accumulate-at",
    .operands = {{"block", OperandKind::kBlock}, {"loop", OperandKind::kLoop}},
    .attributes = {{"storage", std::string("register")}},
    .result = HandleKind::kBlock,
    .result_names = "combine",
    .doc =
        "Reduces, in each iteration of a loop, into a private buffer, which a new block combines into the "
        "destination at its end.\n"
        "for ko: for i: for ki: C[i] sum= f(i, ko, ki)\n->\n"
        "for ko: for i:\n  for ki: acc[ko, i] sum= f(i, ko, ki)\n  C[i] sum= acc[ko, i]\n"
        "Does not apply when the reduction is initialized by another block, or the tiles are imperfect at "
        "more than their last level.",
    .apply = AccumulateAt,
};
KILN_PRIMITIVE(kAccumulateAt);

}  // namespace
}  // namespace kiln
