#include <algorithm>
#include <map>
#include <numeric>
#include <set>
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
  std::vector<Id> axes = {};  // loops on axes around the use whose iterations have different owners
};

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

class OwnerCheck {
 public:
  OwnerCheck(const Program& program, Id buffer)
      : OwnerCheck(program, buffer, program.buffers[buffer].scope.owner, kNone) {}
  // `fixed`: in all uses, this node and the loops around it are in the same iteration. If it is kNone, only the loops
  // around all uses are.
  OwnerCheck(const Program& program, Id buffer, Owner owner, Id fixed)
      : p_(program), buffer_(buffer), owner_(owner), fixed_(fixed) {}

  bool StaysWith(Id a, Id b) {
    if (owner_ < std::max(RunnerOf(p_, a), RunnerOf(p_, b))) return false;
    CollectUsesOf(a);
    if (a != b) CollectUsesOf(b);
    for (Use& use : uses_) {
      FindAxes(use);
      // Requires that all uses reduce over the same axes: after a reduction over an axis, only one of its threads has
      // the result.
      if (CombinedAxes(use) != CombinedAxes(uses_[0])) return false;
    }
    std::map<LoopKind, std::vector<Id>> loops = LoopsByAxis();
    for (const auto& [axis, of_uses] : loops) {
      if (of_uses.size() != uses_.size() || !AlikeExtents(of_uses)) return false;
    }
    if (loops.empty()) return true;
    if (!Told(loops)) return false;
    // Checks again that the axes can be told from the position in memory. A temporary's memory holds what one iteration
    // of the loops around its uses (`home_`) needs, and other elements in the next iteration. It is allocated outside
    // of axes whose iterations share it.
    if (p_.buffers[buffer_].role != Role::kTemporary) return true;
    std::vector<Id> users = Readers(p_, buffer_);
    const std::vector<Id> writers = Writers(p_, buffer_);
    users.insert(users.end(), writers.begin(), writers.end());
    home_ = LowestCommonAncestor(p_, users);
    for (Id at = home_; at != kNone; at = p_.nodes[at].parent)
      if (p_.IsLoop(at) && OnAxis(p_, at) && !IsPrivateTo(p_, buffer_, at)) home_ = p_.nodes[at].parent;
    return Told(loops);
  }

  absl::Status Run() {
    for (const Id block : Blocks(p_)) CollectUsesOf(block);
    if (uses_.empty()) return absl::OkStatus();
    const Id nest = NestOf(p_, uses_[0].block);
    for (const Use& use : uses_) {
      const Id other = NestOf(p_, use.block);
      if (other == nest || KILN_DEFECT("owners.kernels")) continue;
      return No(absl::StrCat(Name(), " is in ", ToString(Storage()),
                             " memory, which does not outlive a kernel; ", Describe(p_, uses_[0].block),
                             " and ", Describe(p_, use.block), " use it in different ones"));
    }
    for (Use& use : uses_) FindAxes(use);
    for (const Use& use : uses_) {
      if (absl::Status status = CheckCombines(use); !status.ok()) return status;
    }
    const std::map<LoopKind, std::vector<Id>> loops = LoopsByAxis();
    if (loops.empty() || KILN_DEFECT("owners.apart")) return absl::OkStatus();
    for (const auto& [axis, of_uses] : loops) {
      if (of_uses.size() == uses_.size() && AlikeExtents(of_uses) && IsThreadAxis(axis)) continue;
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

  void CollectUsesOf(Id block) {
    for (const Access& dest : p_.Accesses(p_.block(block).dests)) {
      if (dest.buffer == buffer_) uses_.push_back({block, dest.index, p_.block(block).monoid != kNone});
    }
    for (const Id load : LoadsOf(p_, block, buffer_)) uses_.push_back({block, p_.exprs[load].AsLoad().index});
    if (GathersFrom(p_, block, buffer_)) uses_.push_back({block, {}});  // at an unknown index
  }

  // Returns the loops around uses of the buffer by their axis. Leaves out loops around all uses, and loops whose
  // iterations are in one owner.
  std::map<LoopKind, std::vector<Id>> LoopsByAxis() const {
    std::map<LoopKind, std::vector<Id>> loops;
    for (const Use& use : uses_) {
      for (const Id loop : use.axes) {
        if (!AroundAll(loop)) loops[p_.loop(loop).kind].push_back(loop);
      }
    }
    return loops;
  }
  bool AlikeExtents(const std::vector<Id>& loops) const {
    return std::all_of(loops.begin(), loops.end(),
                       [&](Id loop) { return p_.loop(loop).extent == p_.loop(loops[0]).extent; });
  }

  // True if all iterations of a loop on a thread axis belong to one owner of `lanes` threads (a warp or
  // warpgroup).
  bool InOneOwner(const Threads& threads, const LoopNode& loop, int64_t lanes) const {
    const bool aligned = threads.x % lanes == 0 || threads.y * threads.z == 1;
    return loop.kind == LoopKind::kThreadX && loop.extent.UpperBound() <= lanes && aligned;
  }

  void FindAxes(Use& use) const {
    const Owner owner = owner_;
    const bool fragment = owner == Owner::kWarp || owner == Owner::kWarpgroup;
    const Threads threads = fragment ? ThreadsOf(p_, NestOf(p_, use.block)) : Threads();
    for (Id at = p_.nodes[use.block].parent; at != kRoot; at = p_.nodes[at].parent) {
      if (!p_.IsLoop(at) || !OnAxis(p_, at)) continue;
      if (IsThreadAxis(p_.loop(at).kind) && owner != Owner::kThread) {
        if (!fragment || InOneOwner(threads, p_.loop(at), LanesOf(owner))) continue;
      }
      use.axes.push_back(at);
    }
  }

  std::set<LoopKind> CombinedAxes(const Use& use) const {
    std::set<LoopKind> axes;
    for (const Id loop : use.axes) {
      if (use.combines && p_.loop(loop).extent.UpperBound() > 1 && AxisUse(p_, use.block, loop).reduction)
        axes.insert(p_.loop(loop).kind);
    }
    return axes;
  }

  // OK unless the use is a reduction over an axis along which each thread (or other owner) has its own copy of the
  // buffer. A reduction over an axis must combine into one element that all its threads share.
  absl::Status CheckCombines(const Use& use) const {
    for (const LoopKind axis : CombinedAxes(use)) {
      return No(absl::StrCat(Name(), " is in ", ToString(Storage()), " memory: each ", OwnerText(),
                             " has its own; but ", Describe(p_, use.block), " combines into it over ",
                             ToString(axis)));
    }
    return absl::OkStatus();
  }

  bool AroundAll(Id loop) const {
    if (fixed_ != kNone) return IsAncestor(p_, loop, fixed_);
    return std::all_of(uses_.begin(), uses_.end(),
                       [&](const Use& u) { return IsAncestor(p_, loop, u.block); });
  }

  // Divides the index of a use in one dimension into four sums: the terms of axes (with the axis as source), the terms
  // of loops around all uses, the terms of other loops around `home_`, and the other terms. Returns nullopt if the
  // index is no sum of loops.
  struct Parts {
    IndexSum axes, common, home, rest;
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
      } else if (home_ != kNone && IsAncestor(p_, loop, home_)) {
        parts.home.splits.push_back(split);
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

  // True if a division and a remainder extract the term of an axis from the sum of all axis terms and inner terms, so
  // that no other term changes it.
  bool IsDigit(const Parts& parts, const IndexSplit& term, ExtentOf extents) const {
    const IndexSum sum = Simplify(parts.axes + parts.rest, extents);
    if (term.scale < 1 || Bounds(sum, extents).min < 0) return false;
    if (KILN_DEFECT("owners.digit")) return true;
    IndexSplit digit = term;
    digit.scale = 1;
    const std::optional<IndexSum> found = DivMod(sum, term.scale, SplitRange(term, extents), extents);
    return found.has_value() && *found == Simplify(IndexSum{0, {digit}}, extents);
  }

  // Adds to `told` sums of axes that the index in dimension `dim` determines: all terms of axes if the other terms
  // change the index by less than their common step, otherwise each term that can be extracted alone. Adds nothing
  // unless the terms of axes are the same in all uses, and so are the terms of loops around all uses.
  void AddTold(const std::vector<Bindings>& bindings, int dim, ExtentOf extents,
               std::vector<IndexSum>& told) const {
    std::vector<Parts> all;
    bool one_home = true;
    for (size_t u = 0; u < uses_.size(); ++u) {
      std::optional<Parts> parts = Take(uses_[u], bindings[u], dim);
      if (!parts.has_value() || parts->axes.splits.empty()) return;
      if (u > 0 && !(parts->axes == all[0].axes && parts->common == all[0].common)) return;
      one_home = one_home && (u == 0 || parts->home == all[0].home);
      all.push_back(*std::move(parts));
    }
    Interval rests{INT64_MAX, INT64_MIN};
    for (Parts& parts : all) {
      if (!one_home) parts.rest = parts.rest + parts.home;
      const Interval rest = Bounds(parts.rest, extents);
      rests = {std::min(rests.min, rest.min), std::max(rests.max, rest.max)};
    }
    int64_t step = 0;
    for (const IndexSplit& term : all[0].axes.splits) step = std::gcd(step, term.scale);
    if (rests.max - rests.min < step) return told.push_back(all[0].axes);
    for (const IndexSplit& term : all[0].axes.splits) {
      const auto digit = [&](const Parts& parts) { return IsDigit(parts, term, extents); };
      if (std::all_of(all.begin(), all.end(), digit)) told.push_back({0, {term}});
    }
  }

  // True if the index of an element determines the iterations of the axes, in the same way in all uses.
  bool Told(const std::map<LoopKind, std::vector<Id>>& loops) const {
    std::vector<Bindings> bindings;
    for (const Use& use : uses_) {
      if (use.index.count != uses_[0].index.count) return false;
      bindings.push_back(ResolveBindings(p_, use.block));
    }
    const auto loop_of = [&](Source axis) { return loops.at(static_cast<LoopKind>(axis.id))[0]; };
    const auto extents = [&](Source source) {
      return Extents(p_)(source.kind == Source::Kind::kIter ? Source::Loop(loop_of(source)) : source);
    };
    std::vector<IndexSum> told;
    for (int dim = 0; dim < uses_[0].index.count; ++dim) AddTold(bindings, dim, extents, told);
    for (IndexSum& sum : told) {
      for (IndexSplit& split : sum.splits) split.source = Source::Loop(loop_of(split.source));
    }
    std::vector<Id> axes;
    for (const auto& [axis, of_uses] : loops) axes.push_back(of_uses[0]);
    return Determine(p_, told, axes);
  }

  const Program& p_;
  Id buffer_;
  Owner owner_;
  Id fixed_, home_ = kNone;
  std::vector<Use> uses_;
};

}  // namespace

bool IsPrivateTo(const Program& program, Id buffer, Id loop) {
  const Owner owner = program.buffers[buffer].scope.owner;
  const LoopKind kind = program.loop(loop).kind;
  if (owner == Owner::kThread || (IsBlockAxis(kind) && owner <= Owner::kBlock)) return true;
  return owner <= Owner::kWarpgroup && (kind == LoopKind::kThreadY || kind == LoopKind::kThreadZ);
}

bool StaysWith(const Program& program, Id buffer, Id a, Id b, Owner owner, Id fixed) {
  return OwnerCheck(program, buffer, owner, fixed).StaysWith(a, b);
}

Owner RunnerOf(const Program& program, Id block) {
  for (const Id loop : LoopsAround(program, block))
    if (OnAxis(program, loop) && program.loop(loop).kind == LoopKind::kThreadX) return Owner::kThread;
  Owner runner = Owner::kThread;
  for (const auto& buffers : {ReadBuffers(program, block), WrittenBuffers(program, block)}) {
    for (const Id buffer : buffers) {
      const Owner owner = program.buffers[buffer].scope.owner;
      if (owner <= Owner::kWarpgroup) runner = std::max(runner, owner);
    }
  }
  return runner;
}

int64_t LanesOf(Owner owner) { return owner == Owner::kThread ? 1 : owner == Owner::kWarp ? 32 : 128; }

Threads ThreadsOf(const Program& program, Id nest) {
  Threads threads;
  std::vector<Id> loops = LoopsBelow(program, nest);
  if (program.IsLoop(nest)) loops.push_back(nest);
  for (const Id loop : loops) {
    const LoopNode& l = program.loop(loop);
    if (!IsThreadAxis(l.kind)) continue;
    int64_t& count = l.kind == LoopKind::kThreadX   ? threads.x
                     : l.kind == LoopKind::kThreadY ? threads.y
                                                    : threads.z;
    count = std::max(count, l.extent.UpperBound());
  }
  for (Id buffer = 0; buffer < static_cast<Id>(program.buffers.size()); ++buffer) {
    const Owner owner = program.buffers[buffer].scope.owner;
    if (owner <= threads.collective || owner > Owner::kWarpgroup) continue;
    for (const Id block : BlocksOf(program, nest)) {
      if (Writes(program, block, buffer) || Reads(program, block, buffer)) threads.collective = owner;
    }
  }
  const int64_t lanes = KILN_DEFECT("owners.lanes") ? 1 : LanesOf(threads.collective);
  threads.x = (threads.x + lanes - 1) / lanes * lanes;
  return threads;
}

namespace {

// True if two stores are parts of one block of the original program, and so compute the same value where both store an
// element.
bool ArePartsOfOne(const Program& p, Id a, Id b) {
  const Provenance &one = p.block(a).provenance, &other = p.block(b).provenance;
  return p.block(a).monoid == kNone && p.block(b).monoid == kNone && one.kind == other.kind &&
         one.origin == other.origin && p.List(one.map) == p.List(other.map);
}

// OK if it is proven that different iterations of an axis never write the same element of the buffer, one in block `a`
// and the other in block `b`. Skips axes whose iterations have their own copies. OK, too, if the blocks are parts of
// one store, which write the same values.
absl::Status CheckWriters(const Program& p, Id buffer, Id a, Id b) {
  if (ArePartsOfOne(p, a, b)) return absl::OkStatus();
  for (Id at = LowestCommonAncestor(p, {a, b}); at != kRoot; at = p.nodes[at].parent) {
    if (!p.IsLoop(at) || !OnAxis(p, at) || IsPrivateTo(p, buffer, at)) continue;
    const bool is_block = IsBlockAxis(p.loop(at).kind);
    const Owner owner = is_block ? Owner::kBlock : std::max(RunnerOf(p, a), RunnerOf(p, b));
    if (StaysWith(p, buffer, a, b, owner, p.nodes[at].parent)) continue;
    return No(absl::StrCat("iterations of ", Describe(p, at), ", which is ", ToString(p.loop(at).kind),
                           ", may write in ", Describe(p, b), " what others write in ", Describe(p, a),
                           ", and buffer ", p.Text(p.buffers[buffer].name), " is not theirs alone"));
  }
  return absl::OkStatus();
}

// OK unless a loop on a thread axis feeds both a reduction iter and a spatial iter of the block: the threads of an axis
// may only combine their values into one element.
absl::Status CheckCombining(const Program& p, Id block) {
  if (p.block(block).monoid == kNone) return absl::OkStatus();
  for (const Id loop : LoopsAround(p, block)) {
    if (!OnAxis(p, loop) || !IsThreadAxis(p.loop(loop).kind)) continue;
    const LoopUse use = AxisUse(p, block, loop);
    if (!use.spatial || !use.reduction) continue;
    return No(absl::StrCat("threads of ", Describe(p, loop), ", which is ", ToString(p.loop(loop).kind),
                           ", would combine into several elements of ", Describe(p, block)));
  }
  return absl::OkStatus();
}

// Checks one buffer in a program with axes: iterations of an axis must not write elements of a shared buffer that
// others write too (a store by the only writer may), and only the buffer's owner may use it (CheckOwner in legality.h).
absl::Status CheckUses(const Program& program, Id buffer) {
  const std::vector<Id> writers = Writers(program, buffer);
  for (size_t b = 1; b < writers.size(); ++b) {
    for (size_t a = 0; a < b; ++a) {
      const absl::Status status = CheckWriters(program, buffer, writers[a], writers[b]);
      if (!status.ok()) return status;
    }
  }
  for (const Id block : writers) {
    // Skips a store by the buffer's only writer: repeating it writes the same values.
    if (program.block(block).monoid == kNone && writers.size() == 1) continue;
    for (Id at = program.nodes[block].parent; at != kRoot; at = program.nodes[at].parent) {
      if (!program.IsLoop(at) || !OnAxis(program, at) || IsPrivateTo(program, buffer, at)) continue;
      if (TellsApart(program, block, at) || KILN_DEFECT("owners.repeats")) continue;
      return No(absl::StrCat("iterations of ", Describe(program, at), ", which is ",
                             ToString(program.loop(at).kind), ", repeat what others do in ",
                             Describe(program, block), ", and buffer ",
                             program.Text(program.buffers[buffer].name), " is not theirs alone"));
    }
  }
  return program.buffers[buffer].scope.owner == Owner::kGrid ? absl::OkStatus()
                                                             : OwnerCheck(program, buffer).Run();
}

}  // namespace

absl::Status CheckOwner(const Program& program, Id buffer) {
  return HasAxes(program) ? CheckUses(program, buffer) : absl::OkStatus();
}

absl::Status CheckOwners(const Program& program) {
  if (!HasAxes(program)) return absl::OkStatus();
  for (const Id block : Blocks(program)) {
    const absl::Status status = CheckCombining(program, block);
    if (!status.ok()) return status;
  }
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    const absl::Status status = CheckUses(program, static_cast<Id>(b));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckKeepsOwners(const Program& before, const Program& after) {
  const absl::Status status = CheckOwners(after);
  return status.ok() || !CheckOwners(before).ok() ? absl::OkStatus() : status;
}

}  // namespace kiln
