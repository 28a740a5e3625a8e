#include "validator/proof/synchronization.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"
#include "validator/proof/pairs.h"
#include "validator/proof/passed_points.h"

namespace kiln::proof {
namespace {

struct SharedUse {
  Id block = kNone, buffer = kNone;
  Range index;
  bool writes = false, combines = false, gathers = false;
};

// The results of the relation that describes a use of a buffer: first the loops around both uses, then the values
// listed here (each axis, the number of the warp and of the warpgroup), then the element.
enum Result : size_t { kX, kY, kZ, kBlockX, kBlockY, kBlockZ, kInWarp, kInWarpgroup, kResults };
constexpr LoopKind kAxes[] = {LoopKind::kThreadX, LoopKind::kThreadY, LoopKind::kThreadZ,
                              LoopKind::kBlockX,  LoopKind::kBlockY,  LoopKind::kBlockZ};

// A way in which one use of a buffer follows another: both run in the same iterations of the first `alike` common
// loops. If `follows` names a loop, the second use is in an iteration of it that is at least `ahead` after that of the
// first.
struct Way {
  Follows follows = {};
  size_t alike = 0;
  int64_t ahead = 0;
};

class OrderOfThreads {
 public:
  OrderOfThreads(Decider& decider, const Spaces& spaces, const SyncPlan& plan)
      : decider_(decider), spaces_(spaces), p_(spaces.program()), plan_(plan), passed_(p_, plan) {}

  Finding Run() {
    if (Finding finding = CheckKernels(); finding.answer != Answer::kYes) return finding;
    for (Id nest = p_.nodes[kRoot].first; nest != kNone; nest = p_.nodes[nest].next) {
      threads_ = ThreadsOf(p_, nest);
      CollectUses(nest);
      for (const SharedUse& a : uses_) {
        for (const SharedUse& b : uses_) {
          if (!InOnePlace(a.buffer, b.buffer) || (!a.writes && !b.writes && a.buffer == b.buffer)) continue;
          Finding finding = a.buffer == b.buffer ? Ordered(a, b) : InTurn(a, b);
          if (finding.answer == Answer::kYes && p_.buffers[a.buffer].scope.owner == Owner::kGrid)
            finding = InOtherBlocks(a, b);
          if (finding.answer != Answer::kYes) return finding;
        }
      }
    }
    return CheckPoints();
  }

 private:
  // Checks that all uses of each buffer that is not in global memory are in one kernel, because its memory ends with
  // the kernel.
  Finding CheckKernels() const {
    for (Id buffer = 0; buffer < static_cast<Id>(p_.buffers.size()); ++buffer) {
      if (p_.buffers[buffer].scope.owner == Owner::kGrid) continue;
      std::vector<Id> users = Writers(p_, buffer);
      for (const Id reader : Readers(p_, buffer)) users.push_back(reader);
      for (const Id user : users) {
        if (NestOf(p_, user) == NestOf(p_, users[0])) continue;
        return {Answer::kUnknown,
                absl::StrCat(Describe(p_, user), " uses buffer ", p_.Text(p_.buffers[buffer].name),
                             ", which ends with the kernel of ", Describe(p_, users[0])),
                {}};
      }
    }
    return {};
  }

  void CollectUses(Id nest) {
    uses_.clear();
    std::set<Id> written;
    for (const Id block : BlocksOf(p_, nest))
      for (const Id buffer : WrittenBuffers(p_, block)) written.insert(buffer);
    const auto add = [&](const SharedUse& use) {
      const RingPlan* const ring = RingOf(use.buffer);
      const bool shared = p_.buffers[use.buffer].scope.owner >= Owner::kBlock && written.contains(use.buffer);
      if (shared && (ring == nullptr || !ring->counts_arrivals)) uses_.push_back(use);
    };
    for (const Id block : BlocksOf(p_, nest)) {
      for (const Id load : Loads(p_, block)) {
        const Expr::LoadView view = p_.exprs[load].AsLoad();
        add({block, view.buffer, view.index});
      }
      for (const Id gather : Gathers(p_, block)) {
        SharedUse use{block, p_.exprs[gather].AsGather().buffer, {}};
        use.gathers = true;
        add(use);
      }
      for (const Access& dest : p_.Accesses(p_.block(block).dests))
        add({block, dest.buffer, dest.index, true, p_.block(block).monoid != kNone});
    }
  }

  const RingPlan* RingOf(Id buffer) const {
    const auto ring = std::find_if(plan_.rings.begin(), plan_.rings.end(),
                                   [&](const RingPlan& r) { return r.buffer == buffer; });
    return ring == plan_.rings.end() ? nullptr : &*ring;
  }

  // True if `a` and `b` are one buffer, or two buffers that the plan puts in one place.
  bool InOnePlace(Id a, Id b) const {
    if (a == b) return true;
    const auto of = [&](Id buffer) {
      return absl::c_find_if(plan_.places, [&](const SharedPlace& place) { return place.buffer == buffer; });
    };
    return of(a) != plan_.places.end() && of(b) != plan_.places.end() && of(a)->place == of(b)->place;
  }

  // Checks that two buffers in one place take turns: the uses of one all come before those of the other, in loops of
  // one iteration, and all threads of the block pass a point in between.
  Finding InTurn(const SharedUse& a, const SharedUse& b) {
    const bool before = spaces_.Before(a.block, b.block);
    const std::pair turn = before ? std::pair(a.buffer, b.buffer) : std::pair(b.buffer, a.buffer);
    turns_.insert(turn);
    const std::vector<Id> loops = CommonLoops(a, b);
    const bool once = !passed_.IsPipelined(LowestCommonAncestor(p_, {a.block, b.block})) &&
                      absl::c_all_of(loops, [&](Id loop) { return p_.loop(loop).extent.Known() == 1; });
    if (!once || turns_.contains({turn.second, turn.first}))
      return Race(a, b, "and another buffer in one place");
    return before ? NoRace(a, b, {}, {}) : Finding();
  }

  // Returns the loops around both uses whose iterations each thread runs one after the other, that is, those on no
  // axis.
  std::vector<Id> CommonLoops(const SharedUse& a, const SharedUse& b) const {
    std::vector<Id> common;
    const std::vector<Id>& loops = spaces_.of(a.block).loops;
    for (size_t l = 0; l < spaces_.Common(a.block, b.block); ++l)
      if (!OnAxis(p_, loops[l])) common.push_back(loops[l]);
    return common;
  }

  // Checks that there is no race, whichever way use b follows use a within a thread block: in the same iteration, or in
  // a later iteration of a loop around both.
  Finding Ordered(const SharedUse& a, const SharedUse& b) {
    const std::vector<Id> loops = CommonLoops(a, b);
    const RingPlan* const ring = RingOf(a.buffer);
    const Id top = LowestCommonAncestor(p_, {a.block, b.block});
    for (size_t l = 0; l < loops.size(); ++l) {
      const int64_t extent = p_.loop(loops[l]).extent.Known();
      Way way{{loops[l], 1}, l, 1};
      if (passed_.IsPipelined(loops[l])) {
        const Id first = passed_.ChildTowards(loops[l], a.block),
                 last = passed_.ChildTowards(loops[l], b.block);
        const PipelineStage from = passed_.StageOf(loops[l], first), to = passed_.StageOf(loops[l], last);
        const int64_t lag = from.stage - to.stage,
                      copies = ring != nullptr && ring->loop == loops[l] ? ring->depth : 1;
        way.follows.steps = first != last && from.order < to.order ? 0 : 1;
        while ((way.follows.steps + lag) % copies != 0) ++way.follows.steps;
        way.ahead = way.follows.steps + lag;
      }
      if (way.ahead >= extent) continue;
      Finding finding = NoRace(a, b, loops, way);
      if (finding.answer != Answer::kYes) return finding;
    }
    if (passed_.IsPipelined(top)) return {};
    const bool alike = a.block == b.block;
    if (alike && a.writes && b.writes)
      return alike && a.combines ? NoRace(a, b, loops, {{}, loops.size()}) : Finding();
    if (!alike && !spaces_.Before(a.block, b.block)) return {};
    return NoRace(a, b, loops, {{}, loops.size()});
  }

  Finding NoRace(const SharedUse& a, const SharedUse& b, const std::vector<Id>& loops, const Way& way) {
    const RingPlan* const ring = RingOf(a.buffer);
    const bool copies = a.writes && ring != nullptr && ring->transport == Transport::kAsync;
    std::vector<Passing> passed;
    if (way.follows.loop != kNone || a.block != b.block)
      passed = passed_.Between(a.block, b.block, way.follows, copies ? ring->loop : kNone);
    const bool same_value = a.block == b.block && a.writes && b.writes && !a.combines;
    if (copies) {  // only points after the wait count
      const auto waited =
          std::find_if(passed.begin(), passed.end(), [](const Passing& p) { return p.copied; });
      if (waited == passed.end() && same_value && FindBases(a.buffer) && PlacesAreElements(loops, way))
        return {};
      if (waited == passed.end()) return Race(a, b, "which are copied asynchronously and not waited for");
      passed.erase(passed.begin(), waited);
    }
    for (const Passing& p : passed)
      if (IsOfAll(*p.point)) return {};
    if (a.buffer != b.buffer) return Race(a, b, "and another buffer in one place");
    for (const bool compact : {false, true}) {
      if (compact && !FindBases(a.buffer)) return Race(a, b, "whose places are not known");
      if (compact && PlacesAreElements(loops, way)) continue;
      if (!compact && same_value) continue;  // two instances store one element's value
      if (!Apart(a, b, loops, way, passed, compact)) return Race(a, b, "");
    }
    return {};
  }

  // True if uses that touch the same place in memory touch the same element, given that both run in the same iterations
  // of the first way.alike loops. Call FindBases before.
  bool PlacesAreElements(const std::vector<Id>& loops, const Way& way) const {
    return absl::c_all_of(base_loops_, [&](Id loop) {
      return OnAxis(p_, loop) ||
             std::find(loops.begin(), loops.begin() + way.alike, loop) != loops.begin() + way.alike;
    });
  }

  Finding Race(const SharedUse& a, const SharedUse& b, absl::string_view what) const {
    return {Answer::kUnknown,
            absl::StrCat("threads are not shown to wait for each other: ", Describe(p_, a.block), " and ",
                         Describe(p_, b.block), " use elements of ", p_.Text(p_.buffers[a.buffer].name),
                         what.empty() ? "" : ", ", what),
            {}};
  }

  // True if all threads of a block wait for each other at the point.
  bool IsOfAll(const SyncPoint& point) const {
    return (point.among >= Owner::kBlock || LanesOf(point.among) >= threads_.Count()) &&
           AxesAround(point).empty();
  }

  std::vector<size_t> AxesAround(const SyncPoint& point) const {  // of threads
    std::vector<size_t> axes;
    for (Id at = point.parent; at != kRoot; at = p_.nodes[at].parent) {
      if (!p_.IsLoop(at) || !OnAxis(p_, at) || !IsThreadAxis(p_.loop(at).kind)) continue;
      axes.push_back(std::find(kAxes, kAxes + 3, p_.loop(at).kind) - kAxes);
    }
    return axes;
  }

  // True if proven: whenever uses a and b touch the same element (with `compact`, the same place in memory), the same
  // thread runs both, or both threads wait for each other at one of the points `passed`.
  bool Apart(const SharedUse& a, const SharedUse& b, const std::vector<Id>& loops, const Way& way,
             const std::vector<Passing>& passed, bool compact) {
    const std::optional<Relation> one = RelationOf(a, loops, compact), other = RelationOf(b, loops, compact);
    if (!one.has_value() || !other.has_value()) return false;
    const Pairs pairs(*one, *other, loops.size() + kResults);
    Points points = pairs.points();
    const auto ahead = [&](size_t result) { return pairs.Ahead(loops.size() + result); };
    for (size_t l = 0; l < way.alike; ++l) points = With(points, pairs.Ahead(l), 1);
    if (way.follows.loop != kNone) {
      const int64_t extent = p_.loop(way.follows.loop).extent.Known();
      points = With(points, pairs.Ahead(way.alike) + IndexSum::Constant(-way.ahead), extent - way.ahead);
    }
    for (const size_t axis : {kBlockX, kBlockY, kBlockZ}) points = With(points, ahead(axis), 1);
    const Owner runner =
        std::max(RunnerOf(p_, a.block), RunnerOf(p_, b.block));  // its lanes are told apart no further
    if (runner == Owner::kThread && NoneDiffers(points, ahead, {kX, kY, kZ})) return true;
    for (const Passing& p : passed) {
      std::vector<size_t> groups = AxesAround(*p.point);
      if (p.point->among == Owner::kWarp) groups.push_back(kInWarp);
      if (p.point->among == Owner::kWarpgroup) groups.push_back(kInWarpgroup);
      if (p.point->among != Owner::kThread && p.point->among >= runner && NoneDiffers(points, ahead, groups))
        return true;
    }
    return false;
  }

  // True if no pair of points has different values of any of the given results.
  template <typename Ahead>
  bool NoneDiffers(const Points& points, Ahead ahead, const std::vector<size_t>& results) {
    for (const size_t result : results) {
      const IndexSum sum = ahead(result);
      for (const IndexSum& more : {sum + IndexSum::Constant(-1), sum * -1 + IndexSum::Constant(-1)})
        if (decider_.Empty(With(points, more, int64_t{1} << 31)).answer != Answer::kYes) return false;
    }
    return true;
  }

  // Shows that threads of different blocks, which never wait for each other, use different elements. Excepts two
  // instances of one store, since they store one value.
  Finding InOtherBlocks(const SharedUse& a, const SharedUse& b) {
    if (a.block == b.block && a.writes && b.writes && !a.combines) return {};  // they store one value
    const std::optional<Relation> one = RelationOf(a, {}, false), other = RelationOf(b, {}, false);
    if (!one.has_value() || !other.has_value()) return Race(a, b, "");
    const Pairs pairs(*one, *other, kResults);
    const auto ahead = [&](size_t result) { return pairs.Ahead(result); };
    if (NoneDiffers(pairs.points(), ahead, {kBlockX, kBlockY, kBlockZ})) return {};
    return Race(a, b, "maybe in different blocks");
  }

  std::optional<Relation> RelationOf(const SharedUse& use, const std::vector<Id>& loops, bool compact) const {
    const Space& space = spaces_.of(use.block);
    Relation relation{space.points, {}};
    const auto at = [&](Id loop) {
      return space.at[std::find(space.loops.begin(), space.loops.end(), loop) - space.loops.begin()];
    };
    for (const Id loop : loops) relation.results.push_back(at(loop));
    std::array<IndexSum, 6> axes;
    for (size_t axis = 0; axis < 6; ++axis) {
      for (const Id loop : space.loops) {
        if (p_.loop(loop).kind != kAxes[axis] || !OnAxis(p_, loop)) continue;
        // Leaves out an axis over which the use reduces: one thread combines what the threads of the axis reduced.
        if (!use.combines || !AxisUse(p_, use.block, loop).reduction) axes[axis] = at(loop);
      }
      relation.results.push_back(axes[axis]);
    }
    const IndexSum thread = axes[kX] + axes[kY] * threads_.x + axes[kZ] * (threads_.x * threads_.y);
    for (const Owner group : {Owner::kWarp, Owner::kWarpgroup})
      relation.results.push_back(Digit(relation.points, thread, LanesOf(group)));
    if (use.gathers) return std::nullopt;
    const auto index = IndicesAt(p_, use.block, use.index, relation.points, space.iters);
    if (!index.has_value()) return std::nullopt;
    for (size_t d = 0; d < index->size(); ++d)
      relation.results.push_back(compact ? (*index)[d] + bases_[d] * -1 : (*index)[d]);
    return relation;
  }

  IndexSum Digit(Points& points, const IndexSum& value, int64_t lower) const {
    if (const auto digit = DivMod(Simplify(value, points), lower, 0, points)) return *digit;
    IndexSum digit = points.Define(Simplify(value, points), threads_.Count());
    digit.splits[0].lower = lower;
    return digit;
  }

  // True if iterations of the loop may use the same memory for the buffer: no axis whose iterations share the buffer is
  // around the loop, and the loop is no such axis.
  bool IsReused(Id buffer, Id loop) const {
    for (Id at = loop; at != kRoot; at = p_.nodes[at].parent)
      if (p_.IsLoop(at) && OnAxis(p_, at) && !IsPrivateTo(p_, buffer, at)) return false;
    return true;
  }

  // True if `wanted` is true for the variable, or for one that its definition depends on.
  static bool DependsOn(const Points& points, size_t variable, absl::FunctionRef<bool(size_t)> wanted) {
    const std::optional<IndexSum>& value = points.variables[variable].value;
    return wanted(variable) ||
           (value.has_value() && absl::c_any_of(value->splits, [&](const IndexSplit& split) {
              return DependsOn(points, split.source.id, wanted);
            }));
  }

  // Finds what the loops around all uses of a buffer add to its indices: sets bases_, a sum for each dimension, and
  // base_loops_, the loops in these sums. Both are empty if the memory holds all elements. Returns false if the sums
  // are not known.
  bool FindBases(Id buffer) {
    bases_.clear();
    base_loops_.clear();
    if (p_.buffers[buffer].role != Role::kTemporary) return true;
    std::vector<Id> users = Readers(p_, buffer);
    for (const Id writer : Writers(p_, buffer)) users.push_back(writer);
    size_t around = spaces_.of(users[0]).loops.size();
    for (const Id user : users) around = std::min(around, spaces_.Common(users[0], user));
    const auto reuses = [&](size_t loop) {
      return loop < around && IsReused(buffer, spaces_.of(users[0]).loops[loop]);
    };
    bool reused = false;
    for (size_t l = 0; l < around; ++l) reused |= reuses(l);
    if (!reused) return true;
    std::vector<bool> alike(p_.buffers[buffer].shape.count, true);
    std::vector<std::optional<IndexSum>> bases(alike.size());
    for (const SharedUse& use : uses_) {
      if (use.buffer != buffer) continue;
      const Space& space = spaces_.of(use.block);
      Points points = space.points;
      const auto index =
          use.gathers ? std::nullopt : IndicesAt(p_, use.block, use.index, points, space.iters);
      if (!index.has_value()) return false;
      for (size_t d = 0; d < alike.size(); ++d) {
        IndexSum base;
        for (const IndexSplit& split : (*index)[d].splits) {
          const size_t variable = split.source.id;
          if (variable >= space.loops.size() && DependsOn(points, variable, reuses)) return false;
          if (reuses(variable)) base.splits.push_back(split);
        }
        alike[d] = alike[d] && (!bases[d].has_value() || *bases[d] == base);
        bases[d] = base;
      }
    }
    for (size_t d = 0; d < alike.size(); ++d)
      if (!alike[d] || !bases[d].has_value()) bases[d] = IndexSum();
    for (const auto& base : bases) {
      for (const IndexSplit& split : base->splits)
        base_loops_.insert(spaces_.of(users[0]).loops[split.source.id]);  // one of the common ones
      bases_.push_back(*base);
    }
    return true;
  }

  // Checks that all threads which are to wait at a point come to it: neither a thread axis nor a guard around the point
  // may keep some of them away. A thread axis may, if the point says that only threads of one iteration of it wait
  // (SyncPoint::within).
  Finding CheckPoints() const {
    for (const SyncPoint& point : plan_.points) {
      const std::vector<size_t> axes = AxesAround(point);
      const bool named = point.within != kNone && IsAncestor(p_, point.within, point.parent);
      if (!axes.empty() && point.among != Owner::kThread && !named)
        return {Answer::kUnknown,
                absl::StrCat("some threads do not come to the point before ", Describe(p_, point.before)),
                {}};
      for (Id at = point.parent; at != kRoot; at = p_.nodes[at].parent) {
        if (!p_.IsBlock(at)) continue;
        for (const Condition& c : spaces_.of(at).points.conditions) {
          const auto varies = [&](const IndexSplit& split) {
            const std::vector<Id>& loops = spaces_.of(at).loops;
            const size_t variable = split.source.id;
            return variable >= loops.size() ||
                   (OnAxis(p_, loops[variable]) && IsThreadAxis(p_.loop(loops[variable]).kind));
          };
          if (std::any_of(c.value.splits.begin(), c.value.splits.end(), varies))
            return {
                Answer::kUnknown,
                absl::StrCat("a guard may keep threads from the point before ", Describe(p_, point.before)),
                {}};
        }
      }
    }
    return {};
  }

  Decider& decider_;
  const Spaces& spaces_;
  const Program& p_;
  const SyncPlan& plan_;
  PassedPoints passed_;
  Threads threads_;  // of the kernel
  std::vector<SharedUse> uses_;
  std::set<std::pair<Id, Id>> turns_;  // of buffers in one place: the first has it before the second
  std::vector<IndexSum> bases_;        // by dimension
  std::set<Id> base_loops_;            // that these depend on
};

}  // namespace

Finding CheckSynchronization(Decider& decider, const Spaces& spaces, const SyncPlan& plan) {
  return OrderOfThreads(decider, spaces, plan).Run();
}

}  // namespace kiln::proof
