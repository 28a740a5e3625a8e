#include "lang/analysis/placement.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/region.h"
#include "lang/analysis/reshape.h"

namespace kiln {
namespace {

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

std::string Gathered(const Program& p, Id block, Id buffer) {
  return absl::StrCat(Describe(p, block), " reads ", p.Text(p.buffers[buffer].name), " at computed indices");
}

absl::Status CheckLeaf(const Program& p, Id block) {
  if (p.nodes[block].first != kNone) return No(absl::StrCat(Describe(p, block), " has blocks within"));
  return absl::OkStatus();
}

absl::Status CheckPlace(const Program& p, Id block, Id loop) {
  if (EnclosingBlock(p, block) != EnclosingBlock(p, loop)) {
    return No(absl::StrCat(Describe(p, block), " and ", Describe(p, loop), " are in different scopes"));
  }
  if (IsAncestor(p, loop, block))
    return No(absl::StrCat(Describe(p, loop), " is around ", Describe(p, block), " already"));
  for (Id at = loop; at != kNone && p.IsLoop(at); at = p.nodes[at].parent) {
    if (p.loop(at).kind == LoopKind::kVectorized) {
      return No(absl::StrCat(Describe(p, at), " is vectorized; nothing can be moved below it"));
    }
  }
  return CheckLeaf(p, block);
}

absl::Status CheckOnlyWriter(const Program& p, Id block) {
  for (const Id buffer : WrittenBuffers(p, block)) {
    if (p.buffers[buffer].role != Role::kTemporary) {
      return No(absl::StrCat(Describe(p, block), " writes ", p.Text(p.buffers[buffer].name),
                             ", a result of the program"));
    }
    if (Writers(p, buffer).size() > 1) {
      return No(absl::StrCat(p.Text(p.buffers[buffer].name), " has more writers than ", Describe(p, block)));
    }
  }
  return absl::OkStatus();
}

// True if each of the iters is an index of what the producer writes, at which `index` has an iter too.
bool ShowIn(const Program& program, Id producer, Id buffer, const std::vector<int>& iters,
            absl::Span<const int32_t> index) {
  const auto shows = [&](int iter) {
    for (const Access& dest : program.Accesses(program.block(producer).dests)) {
      const auto written = program.List(dest.index);
      for (size_t d = 0; dest.buffer == buffer && d < written.size(); ++d) {
        const std::optional<SimpleIndex> simple = AsSimpleIndex(program, written[d]);
        if (simple.has_value() && simple->iter == iter && program.marks[index[d]].splits.count != 0)
          return true;
      }
    }
    return false;
  };
  return std::all_of(iters.begin(), iters.end(), shows);
}

}  // namespace

std::string Describe(const Program& program, Id node) {
  if (program.IsBlock(node)) return absl::StrCat("block \"", program.Text(program.block(node).name), "\"");
  if (program.IsLoop(node)) return absl::StrCat("loop ", program.Text(program.loop(node).name));
  return "the root";
}

bool HasInnerGuards(const Program& program, Id block) {
  const Bindings bindings = ResolveBindings(program, block);
  const auto iters = program.Iters(program.block(block).iters);
  for (const Guard& guard : bindings.guards) {
    bool own = false;
    for (int i = 0; i < static_cast<int>(iters.size()); ++i) {
      own |= iters[i].extent.max == guard.extent && bindings.iters[i] == guard.value;
    }
    if (!own) return true;
  }
  return false;
}

std::vector<int> EmptyingIters(const Program& program, Id block, Id at) {
  std::vector<int> emptying;
  const Extents extents(program, EnclosingBlock(program, block));
  const auto iters = program.Iters(program.block(block).iters);
  for (int i = 0; i < static_cast<int>(iters.size()); ++i) {
    const std::optional<DimRange> range = IterRange(program, block, i, at);
    if (!range.has_value() || Bounds(range->base, extents).max >= iters[i].extent.max) emptying.push_back(i);
  }
  return emptying;
}

bool ReadsLessThanRegion(const Program& program, Id block, Id buffer) {
  const Bindings bindings = ResolveBindings(program, block);
  const auto iters = program.Iters(program.block(block).iters);
  const auto shape = program.Dims(program.buffers[buffer].shape);
  const auto guarded = [&](int i) {
    return std::any_of(bindings.guards.begin(), bindings.guards.end(), [&](const Guard& guard) {
      return guard.extent == iters[i].extent.max && guard.value == bindings.iters[i];
    });
  };
  for (const Id load : Loads(program, block)) {
    const Expr& e = program.exprs[load];
    const auto index = program.List({e.b, e.c});
    for (size_t d = 0; e.a == buffer && d < index.size(); ++d) {
      const std::optional<SimpleIndex> simple = AsSimpleIndex(program, index[d]);
      if (simple.has_value() && simple->offset == 0 && iters[simple->iter].extent == shape[d]) continue;
      for (const Split& split : program.Splits(program.marks[index[d]].splits)) {
        if (guarded(split.source.id)) return true;
      }
    }
  }
  return false;
}

absl::Status CheckComputeAt(const Program& program, Id block, Id loop) {
  absl::Status status = CheckPlace(program, block, loop);
  if (status.ok()) status = CheckOnlyWriter(program, block);
  if (!status.ok()) return status;
  const std::vector<Id> consumers = Consumers(program, block);
  if (consumers.empty()) return No(absl::StrCat("nothing reads what ", Describe(program, block), " writes"));
  for (const Id consumer : consumers) {
    if (!IsAncestor(program, loop, consumer)) {
      return No(absl::StrCat(Describe(program, consumer), " reads it outside of ", Describe(program, loop)));
    }
    // Initial values are read where the reduction is entered.
    for (const Id buffer : WrittenBuffers(program, block)) {
      if (!ReadsInitially(program, consumer, buffer)) continue;
      for (Id at = loop; program.IsLoop(at); at = program.nodes[at].parent) {
        if (!UseOf(program, consumer, at).reduction) continue;
        return No(
            absl::StrCat(Describe(program, consumer), " starts from it, before ", Describe(program, at)));
      }
    }
    // For elements that the consumer does not read, what the block reads may not be there.
    bool exact = !HasInnerGuards(program, consumer) && EmptyingIters(program, consumer, loop).empty();
    for (const Id buffer : WrittenBuffers(program, block))
      exact &= IsDense(ReadRegion(program, consumer, buffer, loop)) &&
               !ReadsLessThanRegion(program, consumer, buffer);
    if (exact) continue;
    for (const Id producer : Producers(program, block)) {
      if (LowestCommonAncestor(program, {producer, loop}) != kRoot) {
        return No(absl::StrCat(Describe(program, consumer), " reads with gaps, where ",
                               Describe(program, producer), " may not run"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckReverseComputeAt(const Program& program, Id block, Id loop) {
  absl::Status status = CheckPlace(program, block, loop);
  if (!status.ok()) return status;
  if (program.block(block).accumulates)
    return No(absl::StrCat(Describe(program, block), " is initialized elsewhere"));
  bool any = false;
  const auto iters = program.Iters(program.block(block).iters);
  std::vector<const DimRange*> first(iters.size(), nullptr);
  std::vector<Region> regions;
  regions.reserve(16);
  for (const Id producer : Producers(program, block)) {
    if (!IsAncestor(program, loop, producer)) {
      if (!Before(program, producer, loop)) {
        return No(absl::StrCat(Describe(program, producer), ", which it reads, comes after ",
                               Describe(program, loop)));
      }
      continue;
    }
    any = true;
    for (Id at = loop; at != kNone && program.IsLoop(at); at = program.nodes[at].parent) {
      if (UseOf(program, producer, at).reduction) {
        return No(absl::StrCat(Describe(program, at), " feeds a reduction of ", Describe(program, producer),
                               ", which is complete only after it"));
      }
    }
    if (HasInnerGuards(program, producer)) {
      return No(absl::StrCat("the tiles of ", Describe(program, producer),
                             " are imperfect at more than their last level"));
    }
  }
  if (!any) return No(absl::StrCat("it reads nothing that is written below ", Describe(program, loop)));
  for (const Id gather : Gathers(program, block)) {
    const Id buffer = BufferRead(program.exprs[gather]);
    for (const Id producer : Writers(program, buffer)) {
      if (IsAncestor(program, loop, producer)) return No(Gathered(program, block, buffer));
    }
  }
  // Each index that reads what is written below must be an iter, or a constant, the same in all reads;
  // reductions must be whole.
  for (const Id load : Loads(program, block)) {
    const Expr& e = program.exprs[load];
    for (const Id producer : Writers(program, e.a)) {
      if (producer == block || !IsAncestor(program, loop, producer)) continue;
      const Region region = WrittenRegion(program, producer, e.a, loop),
                   all = WrittenRegion(program, producer, e.a, kRoot);
      const auto index = program.List({e.b, e.c});
      const auto shape = program.Dims(program.buffers[e.a].shape);
      const std::vector<int> emptying = EmptyingIters(program, producer, loop);
      if (!IsDense(region)) {
        return No(absl::StrCat(Describe(program, producer), " writes with gaps in one iteration of ",
                               Describe(program, loop)));
      }
      if (!ShowIn(program, producer, e.a, emptying, index)) {
        return No(absl::StrCat("some tiles of ", Describe(program, producer),
                               " are empty, which its elements do not show"));
      }
      for (size_t d = 0; d < index.size(); ++d) {
        if (program.marks[index[d]].splits.count == 0) continue;
        const std::optional<SimpleIndex> simple = AsSimpleIndex(program, index[d]);
        if (!simple.has_value()) {
          return No(absl::StrCat("it reads ", program.Text(program.buffers[e.a].name),
                                 " at an index that is no iter"));
        }
        if (simple->offset != 0) {
          return No(absl::StrCat("it reads ", program.Text(program.buffers[e.a].name), " at an offset"));
        }
        const Iter& iter = iters[simple->iter];
        if (iter.extent.max > std::min(shape[d].max, all[d].base.offset + all[d].extent)) {
          return No(absl::StrCat("its iter ", program.Text(iter.name), " also runs where ",
                                 Describe(program, producer), " writes nothing"));
        }
        const bool whole = region[d].base.IsConstant() && region[d].base.offset <= 0 &&
                           region[d].base.offset + region[d].extent >= iter.extent.max;
        if (iter.kind == IterKind::kReduction && !whole) {
          return No(absl::StrCat("it reduces over ", program.Text(iter.name), ", of which one iteration of ",
                                 Describe(program, loop), " has only a part"));
        }
        if (first[simple->iter] != nullptr && !(first[simple->iter]->base == region[d].base &&
                                                first[simple->iter]->extent == region[d].extent)) {
          return No(
              absl::StrCat("its producers have different parts of ", program.Text(iter.name), " there"));
        }
        if (first[simple->iter] == nullptr) {
          regions.push_back({region[d]});
          if (regions.size() == regions.capacity()) return No("it reads too many buffers");
          first[simple->iter] = &regions.back()[0];
        }
      }
    }
  }
  for (const Id consumer : Consumers(program, block)) {
    if (!Before(program, loop, consumer) || IsAncestor(program, loop, consumer)) {
      return No(absl::StrCat(Describe(program, consumer), " reads what it writes"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckComputeInline(const Program& program, Id block) {
  absl::Status status = CheckLeaf(program, block);
  if (status.ok()) status = CheckOnlyWriter(program, block);
  if (!status.ok()) return status;
  const BlockNode& b = program.block(block);
  if (b.monoid != kNone) return No(absl::StrCat(Describe(program, block), " is a reduction"));
  if (b.dests.count != 1 || b.domain.count != 0)
    return No(absl::StrCat(Describe(program, block), " does not write one whole buffer"));
  const Access& dest = program.Accesses(b.dests)[0];
  std::vector<bool> used(b.iters.count, false);
  for (const Id mark : program.List(dest.index)) {
    if (program.marks[mark].splits.count == 0) continue;
    const std::optional<SimpleIndex> simple = AsSimpleIndex(program, mark);
    if (!simple.has_value() || simple->offset != 0 || used[simple->iter]) {
      return No(absl::StrCat("an index of what ", Describe(program, block), " writes is no iter of its own"));
    }
    used[simple->iter] = true;
  }
  const auto iters = program.Iters(b.iters);
  for (size_t i = 0; i < iters.size(); ++i) {
    if (!used[i] && iters[i].extent.max != 1) {
      return No(absl::StrCat("iter ", program.Text(iters[i].name), " is no index of what it writes"));
    }
  }
  const std::vector<Id> consumers = Consumers(program, block);
  if (consumers.empty()) return No(absl::StrCat("nothing reads what ", Describe(program, block), " writes"));
  for (const Id consumer : consumers) {
    if (EnclosingBlock(program, consumer) != EnclosingBlock(program, block))
      return No("a reader is in another scope");
    if (GathersFrom(program, consumer, dest.buffer)) return No(Gathered(program, consumer, dest.buffer));
  }
  return absl::OkStatus();
}

absl::Status CheckReverseComputeInline(const Program& program, Id block) {
  absl::Status status = CheckLeaf(program, block);
  if (!status.ok()) return status;
  const BlockNode& b = program.block(block);
  if (b.monoid != kNone || b.dests.count != 1 || b.domain.count != 0) {
    return No(absl::StrCat(Describe(program, block), " is not a plain store"));
  }
  const std::vector<Id> producers = Producers(program, block);
  if (producers.size() != 1) return No(absl::StrCat("it reads from ", producers.size(), " blocks, not one"));
  const Id producer = producers[0];
  const BlockNode& from = program.block(producer);
  if (from.monoid != kNone)
    return No(absl::StrCat(Describe(program, producer), ", which it reads, is a reduction"));
  if (from.domain.count != 0 || from.dests.count != 1)
    return No(absl::StrCat(Describe(program, producer), " is not a plain store"));
  status = CheckOnlyWriter(program, producer);
  if (!status.ok()) return status;
  const Id buffer = program.Accesses(from.dests)[0].buffer;
  if (Readers(program, buffer).size() != 1)
    return No(absl::StrCat(program.Text(program.buffers[buffer].name), " has other readers"));
  if (EnclosingBlock(program, producer) != EnclosingBlock(program, block))
    return No("its producer is in another scope");
  if (GathersFrom(program, block, buffer)) return No(Gathered(program, block, buffer));
  for (const Id other : ReadBuffers(program, block)) {
    // What else it reads must be there when the producer runs.
    if (other == buffer) continue;
    for (const Id writer : Writers(program, other)) {
      if (!Before(program, writer, producer))
        return No(absl::StrCat(Describe(program, writer), " runs after its producer"));
    }
  }
  if (!ItersByElement(program, block, buffer).has_value()) {
    return No(
        absl::StrCat("it does not read ", program.Text(program.buffers[buffer].name), " element by element"));
  }
  return absl::OkStatus();
}

std::vector<int64_t> ComputeLocations(const Program& program, Id block) {
  std::vector<int64_t> locations;
  if (CheckComputeInline(program, block).ok()) locations.push_back(-2);
  locations.push_back(-1);
  const std::vector<Id> consumers = Consumers(program, block);
  if (consumers.empty()) return locations;
  const std::vector<Id> loops = LoopsAround(program, consumers.front());
  bool reduction_seen = false;
  for (size_t i = 0; i < loops.size(); ++i) {
    const LoopUse use = UseOf(program, consumers.front(), loops[i]);
    if (use.reduction) reduction_seen = true;
    if (reduction_seen && !use.reduction) break;
    if (program.loop(loops[i]).extent.max == 1) continue;
    if (CheckComputeAt(program, block, loops[i]).ok()) locations.push_back(static_cast<int64_t>(i));
  }
  return locations;
}

}  // namespace kiln
