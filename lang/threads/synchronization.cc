#include "lang/threads/synchronization.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/placement.h"
#include "lang/base/defect.h"
#include "lang/threads/shared_places.h"

namespace kiln {
namespace {

// Where the walk is in one node of the tree: the node, the number of the pass through its body (of the step of a
// pipelined loop), and the child that runs.
struct Level {
  Id node = kNone, child = kNone;
  int32_t pass = 0;
};

// A group of threads that have waited for each other: the threads of an Owner (such as kWarp), and of them only those
// in one iteration of the loop `within`, unless it is kNone (SyncPoint in sync_points.h).
struct Waited {
  Owner among = Owner::kThread;
  Id within = kNone;

  bool Covers(const Waited& other) const {
    return among >= other.among && (within == kNone || within == other.within);
  }
};

struct Touch {  // an access since the last point that orders it
  Id block = kNone, buffer = kNone;
  bool writes = false;
  int32_t copy = -1;  // of a ring; -1: the buffer has no copies
  std::vector<Level> path;
  std::vector<Waited> waited{};  // groups that waited since
};

class Planner {
 public:
  explicit Planner(const Program& program) : p_(program) {}

  absl::StatusOr<SyncPlan> Run() {
    for (Id nest = p_.nodes[kRoot].first; nest != kNone; nest = p_.nodes[nest].next) {
      touches_.clear();
      path_.clear();
      nest_ = nest;
      written_.clear();
      for (const Id block : BlocksOf(p_, nest))
        for (const Id buffer : WrittenBuffers(p_, block)) written_.insert(buffer);
      Visit(nest);
      CheckBlocks();
      if (!status_.ok()) return status_;
    }
    FindWaits();
    plan_.places = PlacesInTurn(p_, plan_);
    for (SyncPoint& point : plan_.points) {
      if (KILN_DEFECT("synchronization.warp")) point.among = std::min(point.among, Owner::kWarp);
      const Id next = p_.nodes[point.before].next;
      if (KILN_DEFECT("synchronization.late") && next != kNone) point.before = next;
    }
    return plan_;
  }

 private:
  bool IsSharedByThreads(Id buffer) const {
    return p_.buffers[buffer].scope.owner >= Owner::kBlock && written_.contains(buffer);
  }

  void Visit(Id node) {
    if (!status_.ok()) return;
    if (p_.IsBlock(node)) Access(node);
    if (p_.IsLoop(node) && p_.loop(node).kind == LoopKind::kPipelined) return VisitSteps(node);
    // Walks the body of a serial loop twice, so that the second pass finds conflicts with earlier iterations. A loop
    // that the walk reaches again is walked once, since its own conflicts are the same as before.
    const bool repeats = p_.IsLoop(node) && !OnAxis(p_, node) && p_.loop(node).extent.UpperBound() > 1 &&
                         visited_.insert(node).second && !KILN_DEFECT("synchronization.again");
    path_.push_back({node, kNone, 0});
    for (int32_t pass = 0; pass < (repeats ? 2 : 1); ++pass) {
      path_.back().pass = pass;
      for (Id child = p_.nodes[node].first; child != kNone; child = p_.nodes[child].next) {
        PassPointBefore(child);
        Visit(child);
      }
    }
    path_.pop_back();
  }

  // Walks a pipelined loop step by step, until each ring has gone round and then through the last steps, in which only
  // children of later stages run. In a step, each child runs the iteration of its stage. Adds points on the way.
  void VisitSteps(Id loop) {
    const auto stages = p_.Stages(p_.loop(loop));
    std::vector<Id> children;
    for (Id child = p_.nodes[loop].first; child != kNone; child = p_.nodes[child].next)
      children.push_back(child);
    std::vector<size_t> order(children.size());
    for (size_t c = 0; c < children.size(); ++c) order[stages[c].order] = c;
    AddRings(loop);
    int32_t last = 0, iterations = 2;
    for (const PipelineStage& stage : stages) last = std::max(last, stage.stage);
    iterations = std::max(iterations, last + 2);
    for (const Ring& ring : p_.Rings(p_.loop(loop))) iterations = std::max(iterations, 2 * ring.depth + 1);
    iterations = static_cast<int32_t>(std::min<int64_t>(iterations, p_.loop(loop).extent.UpperBound()));
    path_.push_back({loop, kNone, 0});
    for (int32_t step = 0; step < iterations + last; ++step) {
      path_.back().pass = step;
      for (const size_t c : order) {
        iteration_[loop] = step - stages[c].stage;
        PassPointBefore(children[c]);
        if (iteration_[loop] >= 0 && iteration_[loop] < iterations) Visit(children[c]);
      }
    }
    iteration_.erase(loop);
    path_.pop_back();
  }

  void AddRings(Id loop) {
    if (absl::c_any_of(plan_.rings, [&](const RingPlan& ring) { return ring.loop == loop; })) return;
    const auto stages = p_.Stages(p_.loop(loop));
    const std::vector<CarriedBuffer> carried = CarriedBuffers(p_, loop);
    for (const Ring& ring : p_.Rings(p_.loop(loop))) {
      const auto of_buffer = [&](const CarriedBuffer& c) { return c.buffer == ring.buffer; };
      const auto writer = absl::c_find_if(carried, of_buffer);
      const bool roles = writer != carried.end() && stages[writer->writer].role == PipelineRole::kProducer;
      plan_.rings.push_back(
          {loop, ring.buffer, ring.depth, ring.transport, roles || ring.transport == Transport::kBulk});
    }
    while (MakeARingSync(loop)) {
    }
  }

  // Changes one asynchronous ring of a loop to plain stores, if some child reads the ring in the step that copies it,
  // before the step's copies are committed. (The copies of a step are one group, committed after the last of them.)
  // Returns false if no ring needs that.
  bool MakeARingSync(Id loop) {
    const auto stages = p_.Stages(p_.loop(loop));
    const int32_t last_copy = LastCopy(loop);
    for (const CarriedBuffer& c : CarriedBuffers(p_, loop)) {
      const auto early = [&](int reader) {
        return stages[reader].stage == stages[c.writer].stage && stages[reader].order <= last_copy;
      };
      RingPlan& ring = *absl::c_find_if(plan_.rings, [&](const RingPlan& r) { return r.buffer == c.buffer; });
      if (!IsCommitted(ring) || absl::c_none_of(c.readers, early)) continue;
      ring.transport = Transport::kSync;
      return true;
    }
    return false;
  }

  // True if the ring's copies are asynchronous (as cp.async) and are awaited by groups, not by barriers that count
  // arrivals.
  static bool IsCommitted(const RingPlan& ring) {
    return ring.transport == Transport::kAsync && !ring.counts_arrivals;
  }

  // Returns the position, within a step of the loop, of the last child that makes asynchronous copies which are
  // committed as a group. Returns -1 if no child does.
  int32_t LastCopy(Id loop) const {
    int32_t last = -1;
    for (const CarriedBuffer& c : CarriedBuffers(p_, loop))
      if (IsCommitted(*RingOf(c.buffer))) last = std::max(last, p_.Stages(p_.loop(loop))[c.writer].order);
    return last;
  }

  const RingPlan* RingOf(Id buffer) const {
    const auto ring = absl::c_find_if(plan_.rings, [&](const RingPlan& r) { return r.buffer == buffer; });
    return ring == plan_.rings.end() ? nullptr : &*ring;
  }

  void PassPointBefore(Id child) {
    path_.back().child = child;
    for (const SyncPoint& point : plan_.points)
      if (point.before == child) Pass(point, path_.size() - 1);
  }

  void Access(Id block) {
    for (const Id buffer : ReadBuffers(p_, block)) Access(block, buffer, false);
    for (const Id buffer : WrittenBuffers(p_, block)) Access(block, buffer, true);
  }

  void Access(Id block, Id buffer, bool writes) {
    if (!status_.ok() || !IsSharedByThreads(buffer)) return;
    const RingPlan* const ring = RingOf(buffer);
    Touch now{block, buffer, writes, -1, path_};
    const int32_t more = KILN_DEFECT("synchronization.copies") ? 1 : 0;
    if (ring != nullptr) now.copy = static_cast<int32_t>(iteration_.at(ring->loop) % (ring->depth + more));
    const auto conflicts = [&](const Touch& other) {
      return other.buffer == buffer && (other.writes || writes) && other.copy == now.copy;
    };
    for (size_t t = 0; t < touches_.size() && status_.ok(); ++t)
      if (conflicts(touches_[t]) && Order(touches_[t], now))
        t = static_cast<size_t>(-1);  // fewer touches are left
    const auto same = [&](const Touch& t) {
      return t.block == block && t.buffer == buffer && t.writes == writes && t.copy == now.copy &&
             t.waited.empty() && SamePath(t.path, now.path);
    };
    if (absl::c_none_of(touches_, same)) touches_.push_back(std::move(now));
  }

  static bool SamePath(const std::vector<Level>& a, const std::vector<Level>& b) {
    return a.size() == b.size() && Divergence(a, b) == a.size();
  }

  // Returns the first level at which two paths through the tree differ, or the length of the shorter path if they do
  // not.
  static size_t Divergence(const std::vector<Level>& a, const std::vector<Level>& b) {
    size_t at = 0;
    while (at < a.size() && at < b.size() && a[at].node == b[at].node && a[at].pass == b[at].pass &&
           a[at].child == b[at].child)
      ++at;
    return at;
  }

  // Adds a point between two accesses if different threads may use the same element, no earlier point orders the
  // accesses, and the buffer has no ring that counts arrivals. Returns true if it adds a point. If threads of different
  // blocks use the element, sets status_ to an error instead.
  bool Order(const Touch& before, const Touch& now) {
    const size_t level = Divergence(before.path, now.path);
    if (level >= now.path.size() || level >= before.path.size())
      return false;  // of one block in one iteration
    const Id parent = now.path[level].node;
    const bool carried = before.path[level].pass != now.path[level].pass;
    const Id fixed = carried ? p_.nodes[parent].parent : parent;
    const Owner needed = Needed(now.buffer, before.block, now.block, fixed);
    if (needed == Owner::kThread) return false;
    if (needed == Owner::kGrid) {
      RefuseBlocks(before.block, now.block, now.buffer);
      return false;
    }
    const RingPlan* const ring = RingOf(now.buffer);
    if (ring != nullptr && ring->counts_arrivals) return false;  // its barriers order the threads of a block
    const Id within = ThreadLoopAround(parent);
    const auto enough = [&](const Waited& w) { return w.Covers({needed, within}); };
    if (absl::c_any_of(before.waited, enough)) return false;
    Id child = now.path[level].child;
    if (carried) child = FirstOfStep(parent);
    if (KILN_DEFECT("synchronization.left-out") && !carried) return false;
    Add({parent, child, needed, within}, level);
    return true;
  }

  // Returns the innermost thread-axis loop that is `node` or around it, or kNone.
  Id ThreadLoopAround(Id node) const {
    while (node != kNone && !(p_.IsLoop(node) && OnAxis(p_, node) && IsThreadAxis(p_.loop(node).kind)))
      node = p_.nodes[node].parent;
    return node;
  }

  void RefuseBlocks(Id a, Id b, Id buffer) {
    if (KILN_DEFECT("synchronization.blocks")) return;
    status_ = absl::FailedPreconditionError(absl::StrCat(
        "blocks of ", Describe(p_, nest_), " would have to wait for each other: ", Describe(p_, a), " and ",
        Describe(p_, b), " use the same elements of buffer ", p_.Text(p_.buffers[buffer].name)));
  }

  // Refuses the kernel if different thread blocks, which never wait for each other, use the same element of a buffer
  // and one of them writes it. The walk misses some of these uses, because it forgets accesses once all threads of a
  // block have waited.
  void CheckBlocks() {
    const std::vector<Id> blocks = BlocksOf(p_, nest_);
    for (const Id buffer : written_) {
      if (p_.buffers[buffer].scope.owner <= Owner::kBlock || RingOf(buffer) != nullptr) continue;
      std::vector<Id> users;
      absl::c_copy_if(blocks, std::back_inserter(users),
                      [&](Id b) { return Writes(p_, b, buffer) || Reads(p_, b, buffer); });
      for (size_t b = 0; b < users.size(); ++b) {
        for (size_t a = 0; a <= b && status_.ok(); ++a) {
          const std::optional<Id> fixed = LeastFixed(users[a], users[b]);
          const bool conflicts = Writes(p_, users[a], buffer) || Writes(p_, users[b], buffer);
          if (conflicts && fixed.has_value() && Needed(buffer, users[a], users[b], *fixed) == Owner::kGrid)
            RefuseBlocks(users[a], users[b], buffer);
        }
      }
    }
  }

  // Returns the innermost node whose own loop and outer loops are in the same iteration whenever `b` runs after `a`:
  // the parent of the outermost serial loop around both blocks, or their common ancestor if no loop repeats them.
  // Returns nullopt if a == b and no loop repeats the block.
  std::optional<Id> LeastFixed(Id a, Id b) const {
    const Id both = a == b ? p_.nodes[a].parent : LowestCommonAncestor(p_, {a, b});
    Id outermost = kNone;
    for (Id at = both; at != kRoot; at = p_.nodes[at].parent)
      if (p_.IsLoop(at) && !OnAxis(p_, at) && p_.loop(at).extent.UpperBound() > 1) outermost = at;
    if (outermost != kNone) return p_.nodes[outermost].parent;
    return a == b ? std::nullopt : std::optional(both);
  }

  // Returns the child of a loop that runs first in an iteration, or, in a pipelined loop, first in a step.
  Id FirstOfStep(Id loop) const {
    Id child = p_.nodes[loop].first;
    if (p_.loop(loop).kind != LoopKind::kPipelined) return child;
    for (const PipelineStage& stage : p_.Stages(p_.loop(loop))) {
      if (stage.order == 0) return child;
      child = p_.nodes[child].next;
    }
    return child;
  }

  // Returns the smallest group of threads (thread, warp, warpgroup or block) such that every element which both blocks
  // use is used by one group only. Returns kGrid if no group is proven. Caches the answers.
  Owner Needed(Id buffer, Id a, Id b, Id fixed) {
    const auto [known, fresh] = needed_.try_emplace({buffer, a, b, fixed}, Owner::kGrid);
    if (!fresh) return known->second;
    if (a == b && WritesOtherElements(a, buffer, fixed)) return known->second = Owner::kThread;
    for (const Owner owner : {Owner::kThread, Owner::kWarp, Owner::kWarpgroup, Owner::kBlock}) {
      if (!StaysWith(p_, buffer, a, b, owner, fixed)) continue;
      known->second = owner;
      break;
    }
    return known->second;
  }

  // True if no element of the buffer is used by two instances of the block: each instance writes elements of its own,
  // and none reads the buffer. False for a temporary that one kernel alone uses, since its memory may hold one element
  // after another.
  bool WritesOtherElements(Id block, Id buffer, Id fixed) const {
    if (Reads(p_, block, buffer)) return false;
    const std::vector<Id> readers = Readers(p_, buffer);
    const bool keeps_all = p_.buffers[buffer].role != Role::kTemporary ||
                           absl::c_any_of(readers, [&](Id b) { return NestOf(p_, b) != nest_; });
    return keeps_all && WritesElementsOnce(p_, block, buffer, fixed);
  }

  // Returns the point before a child: a new one, or the one that is there, widened to the larger group of threads.
  SyncPoint& PointBefore(const SyncPoint& point) {
    const auto there =
        absl::c_find_if(plan_.points, [&](const SyncPoint& other) { return other.before == point.before; });
    if (there == plan_.points.end()) return plan_.points.emplace_back(point);
    there->among = std::max(there->among, point.among);
    return *there;
  }

  // Adds a point, and marks the accesses before it as ordered.
  void Add(const SyncPoint& point, size_t level) { Pass(PointBefore(point), level); }

  // Records that threads waited at a point: adds the waiting group to each remembered access that comes before the
  // point. Forgets the accesses after which all threads of a block have waited.
  void Pass(const SyncPoint& point, size_t level) {
    for (Touch& touch : touches_) {
      const size_t at = Divergence(touch.path, path_);
      // Skips accesses that come after the point: those below the point's own child in this iteration and, if the point
      // is at the beginning of the iteration, those of children that ran earlier in it.
      if (at > level) continue;
      if (at == level && touch.path[at].pass == path_[at].pass &&
          !IsBefore(touch.path[at].child, point.before))
        continue;
      const Waited now{point.among, point.within};
      if (absl::c_none_of(touch.waited, [&](const Waited& w) { return w.Covers(now); }))
        touch.waited.push_back(now);
    }
    const auto is_ordered = [](const Waited& w) { return w.Covers({Owner::kBlock, kNone}); };
    std::erase_if(touches_, [&](const Touch& t) { return absl::c_any_of(t.waited, is_ordered); });
  }

  // True if child `a` runs before child `b` of the same node: in program order, or in the order of the steps of a
  // pipelined loop.
  bool IsBefore(Id a, Id b) const {
    const Id parent = p_.nodes[a].parent;
    const bool pipelined = p_.IsLoop(parent) && p_.loop(parent).kind == LoopKind::kPipelined;
    int32_t place[] = {0, 0}, at = 0;
    for (Id child = p_.nodes[parent].first; child != kNone; child = p_.nodes[child].next, ++at) {
      const int32_t position = pipelined ? p_.Stages(p_.loop(parent))[at].order : at;
      if (child == a) place[0] = position;
      if (child == b) place[1] = position;
    }
    return place[0] < place[1];
  }

  // Sets SyncPoint::wait_groups: for each child that reads an asynchronous ring, how many groups of copies may still be
  // under way when the threads pass the last point before the child.
  void FindWaits() {
    for (const RingPlan& ring : plan_.rings) {
      if (!IsCommitted(ring)) continue;
      const auto stages = p_.Stages(p_.loop(ring.loop));
      const int32_t last_copy = LastCopy(ring.loop);
      for (const CarriedBuffer& c : CarriedBuffers(p_, ring.loop)) {
        if (c.buffer != ring.buffer) continue;
        for (const int reader : c.readers) {
          const int32_t distance = stages[reader].stage - stages[c.writer].stage;
          Wait(ring, c.writer, reader, distance, last_copy);
        }
      }
    }
  }

  // Returns the smallest group of threads (thread, warp, warpgroup or block) whose threads read, of the copies that
  // were made `distance` steps before, only those of threads of their group.
  Owner Reach(const RingPlan& ring, int writer, int reader, int32_t distance) {
    const Id fixed = distance > 0 ? p_.nodes[ring.loop].parent : ring.loop;
    Owner reach = Owner::kThread;
    if (p_.buffers[ring.buffer].scope.owner < Owner::kBlock) return reach;
    for (const Id from : BlocksOf(p_, ChildAt(ring.loop, writer))) {
      for (const Id to : BlocksOf(p_, ChildAt(ring.loop, reader))) {
        if (Writes(p_, from, ring.buffer) && Reads(p_, to, ring.buffer))
          reach = std::max(reach, Needed(ring.buffer, from, to, fixed));
      }
    }
    return reach;
  }

  Id ChildAt(Id loop, int number) const {
    Id child = p_.nodes[loop].first;
    while (number-- > 0) child = p_.nodes[child].next;
    return child;
  }

  // Makes the threads wait for the asynchronous copies of a ring before a child reads them, `distance` steps after they
  // began. Sets the number of groups at the last point before the child at which all threads that share the copies wait
  // for each other: a copy has landed for another thread only if that thread waits after the copy's own thread did. If
  // there is no such point, or if it comes before the copies are committed, adds one before the child.
  void Wait(const RingPlan& ring, int writer, int reader, int32_t distance, int32_t last_copy) {
    const auto stages = p_.Stages(p_.loop(ring.loop));
    const auto under_way = [&](int32_t order) { return order > last_copy ? distance : distance - 1; };
    const Waited needed{Reach(ring, writer, reader, distance), ThreadLoopAround(ring.loop)};
    SyncPoint* last = nullptr;
    int32_t last_order = -1, c = 0;
    for (Id child = p_.nodes[ring.loop].first; child != kNone; child = p_.nodes[child].next, ++c) {
      for (SyncPoint& point : plan_.points) {
        if (point.before != child || stages[c].order > stages[reader].order ||
            stages[c].order <= last_order || !Waited{point.among, point.within}.Covers(needed))
          continue;
        last = &point;
        last_order = stages[c].order;
      }
    }
    if (last == nullptr || under_way(last_order) < 0) {
      last_order = stages[reader].order;
      last = &PointBefore({ring.loop, ChildAt(ring.loop, reader), needed.among, needed.within});
    }
    const int32_t groups = under_way(last_order) + (KILN_DEFECT("synchronization.groups") ? 1 : 0);
    last->wait_groups = last->wait_groups < 0 ? groups : std::min(last->wait_groups, groups);
  }

  const Program& p_;
  Id nest_ = kNone;
  std::set<Id> written_;  // buffers that blocks of the nest write
  std::set<Id> visited_;  // loops
  std::vector<Level> path_;
  std::vector<Touch> touches_;
  std::map<Id, int64_t> iteration_;  // of pipelined loops: that of the child that runs
  std::map<std::tuple<Id, Id, Id, Id>, Owner> needed_;
  SyncPlan plan_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<SyncPlan> PlanSynchronization(const Program& program) {
  if (!HasAxes(program)) return SyncPlan();
  return Planner(program).Run();
}

}  // namespace kiln
