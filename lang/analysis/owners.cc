#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"
#include "lang/base/defect.h"

namespace kiln {
namespace {

struct Use {
  Id block = kNone;
  Range index;
  bool combines = false;      // it is the result of a reduction
  std::vector<Id> axes = {};  // loops on axes around the use that are outside of one owner
};

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

class OwnerCheck {
 public:
  OwnerCheck(const Program& program, Id buffer) : p_(program), buffer_(buffer) {}

  absl::Status Run() {
    CollectUses();
    if (uses_.empty()) return absl::OkStatus();
    const Id nest = NestOf(p_, uses_[0].block);
    for (const Use& use : uses_) {
      const Id other = NestOf(p_, use.block);
      if (other == nest || (!IsKernel(p_, nest) && !IsKernel(p_, other))) continue;
      return No(absl::StrCat(Name(), " is in ", ToString(Storage()),
                             " memory, which does not outlive a kernel; ", Describe(p_, uses_[0].block),
                             " and ", Describe(p_, use.block), " use it in different ones"));
    }
    for (Use& use : uses_) FindAxes(use);
    for (const Use& use : uses_) {
      if (absl::Status status = CheckCombines(use); !status.ok()) return status;
    }
    std::map<LoopKind, std::vector<Id>> loops;  // by axis: the loop of each use, if not around all
    for (const Use& use : uses_) {
      for (const Id loop : use.axes) {
        if (!AroundAll(loop)) loops[p_.loop(loop).kind].push_back(loop);
      }
    }
    if (loops.empty() || KILN_DEFECT("owners.apart")) return absl::OkStatus();
    for (const auto& [axis, of_uses] : loops) {
      const bool alike = std::all_of(of_uses.begin(), of_uses.end(), [&](Id loop) {
        return p_.loop(loop).extent == p_.loop(of_uses[0]).extent;
      });
      if (of_uses.size() == uses_.size() && alike && IsThreadAxis(axis)) continue;
      if (of_uses.size() == uses_.size() && IsThreadAxis(axis)) {
        return No(absl::StrCat(Name(), " is in ", ToString(Storage()), " memory: each ", OwnerText(),
                               " has its own; but the loops on ", ToString(axis), " around ",
                               Describe(p_, uses_[0].block), " and ", Describe(p_, uses_.back().block),
                               " have different extents"));
      }
      return No(absl::StrCat(Name(), " is in ", ToString(Storage()), " memory: each ", OwnerText(),
                             " has its own; but it is used in and outside of ", Describe(p_, of_uses[0]),
                             ", which is ", ToString(axis)));
    }
    if (Told(loops)) return absl::OkStatus();
    return No(absl::StrCat(Name(), " is in ", ToString(Storage()), " memory: each ", OwnerText(),
                           " has its own; but ", Describe(p_, uses_.back().block),
                           " may use what others wrote in ", Describe(p_, uses_[0].block)));
  }

 private:
  enum Storage Storage() const { return p_.buffers[buffer_].scope.storage; }
  std::string Name() const { return absl::StrCat("buffer ", p_.Text(p_.buffers[buffer_].name)); }
  absl::string_view OwnerText() const {
    constexpr absl::string_view kNames[] = {"thread", "warp", "warpgroup", "block", "cluster", "grid"};
    return kNames[static_cast<int>(p_.buffers[buffer_].scope.owner)];
  }

  void CollectUses() {
    for (const Id block : Blocks(p_)) {
      for (const Access& dest : p_.Accesses(p_.block(block).dests)) {
        if (dest.buffer == buffer_) uses_.push_back({block, dest.index, p_.block(block).monoid != kNone});
      }
      for (const Id load : LoadsOf(p_, block, buffer_)) {
        const Expr& e = p_.exprs[load];
        uses_.push_back({block, e.AsLoad().index});
      }
      if (GathersFrom(p_, block, buffer_)) uses_.push_back({block, {}});  // at an unknown index
    }
  }

  // True if all iterations of the axis belong to one owner of `lanes` threads (a warp or warpgroup).
  bool InOneOwner(Id nest, LoopKind axis, int64_t lanes) const {
    int64_t x = 1, others = 1;
    std::vector<Id> loops = LoopsBelow(p_, nest);
    loops.push_back(nest);
    for (const Id loop : loops) {
      if (!p_.IsLoop(loop) || !OnAxis(p_, loop) || !IsThreadAxis(p_.loop(loop).kind)) continue;
      int64_t& most = p_.loop(loop).kind == LoopKind::kThreadX ? x : others;
      most = std::max(most, p_.loop(loop).extent.UpperBound());
    }
    return axis == LoopKind::kThreadX && x <= lanes && (others == 1 || x == lanes);
  }

  void FindAxes(Use& use) const {
    const Owner owner = p_.buffers[buffer_].scope.owner;
    for (Id at = p_.nodes[use.block].parent; at != kRoot; at = p_.nodes[at].parent) {
      if (!p_.IsLoop(at) || !OnAxis(p_, at)) continue;
      const LoopKind axis = p_.loop(at).kind;
      if (IsThreadAxis(axis) && owner != Owner::kThread) {
        if (owner != Owner::kWarp && owner != Owner::kWarpgroup) continue;
        if (InOneOwner(NestOf(p_, use.block), axis, owner == Owner::kWarp ? 32 : 128)) continue;
      }
      use.axes.push_back(at);
    }
  }

  // A reduction over threads combines into one element. Its buffer must not have a copy for each thread.
  absl::Status CheckCombines(const Use& use) const {
    if (!use.combines) return absl::OkStatus();
    for (const Id loop : use.axes) {
      if (p_.loop(loop).extent.UpperBound() == 1 || !UseOf(p_, use.block, loop).reduction) continue;
      return No(absl::StrCat(Name(), " is in ", ToString(Storage()), " memory: each ", OwnerText(),
                             " has its own; but ", Describe(p_, use.block), " combines into it over ",
                             ToString(p_.loop(loop).kind)));
    }
    return absl::OkStatus();
  }

  bool AroundAll(Id loop) const {
    return std::all_of(uses_.begin(), uses_.end(),
                       [&](const Use& u) { return IsAncestor(p_, loop, u.block); });
  }

  // An index of a use in three parts: the terms of machine axes (with the axis as source), the terms of loops
  // around all uses, and the other terms. Take returns nullopt if the index cannot be written as such a sum.
  struct Parts {
    IndexSum axes, common, rest;
  };
  std::optional<Parts> Take(const Use& use, const Bindings& bindings, int dim) const {
    const Extents extents(p_);
    const std::optional<IndexSum> value = Substitute(
        p_.SumOf(p_.lists[use.index.begin + dim]),
        [&](Source s) { return std::optional<IndexSum>(bindings.iters[s.id]); }, extents);
    if (!value.has_value()) return std::nullopt;
    Parts parts;
    parts.rest.offset = value->offset;
    for (IndexSplit split : value->splits) {
      if (split.source.kind != Source::Kind::kLoop) return std::nullopt;
      const Id loop = split.source.id;
      if (AroundAll(loop)) {
        parts.common.splits.push_back(split);
      } else if (std::find(use.axes.begin(), use.axes.end(), loop) != use.axes.end()) {
        split.source = Source::Iter(static_cast<int32_t>(p_.loop(loop).kind));
        parts.axes.splits.push_back(split);
      } else {
        parts.rest.splits.push_back(split);
      }
    }
    std::sort(parts.axes.splits.begin(), parts.axes.splits.end(),
              [](const IndexSplit& a, const IndexSplit& b) {
                return std::tie(a.source, a.lower, a.scale) < std::tie(b.source, b.lower, b.scale);
              });
    return parts;
  }

  // True if the index of an element determines the iterations of the axes, in the same way in all uses.
  bool Told(const std::map<LoopKind, std::vector<Id>>& loops) const {
    std::vector<Bindings> bindings;
    for (const Use& use : uses_) {
      if (EnclosingBlock(p_, use.block) != kNone || use.index.count != uses_[0].index.count) return false;
      bindings.push_back(ResolveBindings(p_, use.block));
    }
    std::vector<IndexSum> told;
    for (int dim = 0; dim < uses_[0].index.count; ++dim) {
      const std::optional<Parts> first = Take(uses_[0], bindings[0], dim);
      if (!first.has_value() || first->axes.splits.empty()) continue;
      int64_t step = 0;
      for (const IndexSplit& split : first->axes.splits) step = std::gcd(step, split.scale);
      Interval rests{INT64_MAX, INT64_MIN};
      bool same = true;
      for (size_t u = 0; u < uses_.size() && same; ++u) {
        const std::optional<Parts> parts = Take(uses_[u], bindings[u], dim);
        same = parts.has_value() && parts->axes == first->axes && parts->common == first->common;
        if (!same) break;
        const Interval rest = Bounds(parts->rest, Extents(p_));
        rests = {std::min(rests.min, rest.min), std::max(rests.max, rest.max)};
      }
      if (!same || rests.max - rests.min >= step) continue;
      IndexSum sum = first->axes;
      for (IndexSplit& split : sum.splits)
        split.source = Source::Loop(loops.at(static_cast<LoopKind>(split.source.id))[0]);
      told.push_back(sum);
    }
    std::vector<Id> axes;
    for (const auto& [axis, of_uses] : loops) axes.push_back(of_uses[0]);
    return Determine(p_, told, axes);
  }

  const Program& p_;
  Id buffer_;
  std::vector<Use> uses_;
};

}  // namespace

// True if the owner of the buffer implies that each iteration of this axis loop has its own copy.
bool IsPrivateTo(const Program& program, Id buffer, Id loop) {
  const Owner owner = program.buffers[buffer].scope.owner;
  return owner == Owner::kThread || (IsBlockAxis(program.loop(loop).kind) && owner <= Owner::kBlock);
}

absl::Status CheckOwner(const Program& program, Id buffer) {
  if (!HasAxes(program)) return absl::OkStatus();
  for (const Id block : Writers(program, buffer)) {
    // Repeating a store is harmless if the block is the only writer.
    if (program.block(block).monoid == kNone && Writers(program, buffer).size() == 1) continue;
    for (Id at = program.nodes[block].parent; at != kRoot; at = program.nodes[at].parent) {
      if (!program.IsLoop(at) || !OnAxis(program, at) || TellsApart(program, block, at)) continue;
      if (IsPrivateTo(program, buffer, at) || KILN_DEFECT("owners.repeats")) continue;
      return No(absl::StrCat("iterations of ", Describe(program, at), ", which is ",
                             ToString(program.loop(at).kind), ", repeat what others do in ",
                             Describe(program, block), ", and buffer ",
                             program.Text(program.buffers[buffer].name), " is not theirs alone"));
    }
  }
  return program.buffers[buffer].scope.owner == Owner::kGrid ? absl::OkStatus()
                                                             : OwnerCheck(program, buffer).Run();
}

absl::Status CheckOwners(const Program& program) {
  if (!HasAxes(program)) return absl::OkStatus();
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    const absl::Status status = CheckOwner(program, static_cast<Id>(b));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace kiln
