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

// A level of the walk: a node, the pass through its body, and the child that runs.
struct Level {
  Id node = kNone, child = kNone;
  int32_t pass = 0;
};

// Threads that have waited for each other: SyncPoint::among and within.
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
  std::vector<Waited> waited{};  // since
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
    // A second pass finds what iterations of this loop do to each other. It is the same whenever the loop runs again.
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

  // Runs a pipelined loop step by step until all rings have gone round, and then the steps at its end, in which only
  // children of later stages run.
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

  // A step's copies are one group, which is committed after the last of them. Lets an asynchronous ring travel by
  // stores if a child reads it in the step that copies it, and before the group is committed. Returns true if it
  // changed a ring.
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

  // True if the threads copy the ring asynchronously and commit its copies.
  static bool IsCommitted(const RingPlan& ring) {
    return ring.transport == Transport::kAsync && !ring.counts_arrivals;
  }

  // Returns the position of the last child whose copies are committed; -1 if there is none.
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

  // Returns the first level at which the paths differ; the length of the shorter one if they do not.
  static size_t Divergence(const std::vector<Level>& a, const std::vector<Level>& b) {
    size_t at = 0;
    while (at < a.size() && at < b.size() && a[at].node == b[at].node && a[at].pass == b[at].pass &&
           a[at].child == b[at].child)
      ++at;
    return at;
  }

  // Adds a point between two accesses if different threads may use one element, and no point is between them
  // yet. Returns true if it did.
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
    Id within = parent;
    while (within != kNone &&
           !(p_.IsLoop(within) && OnAxis(p_, within) && IsThreadAxis(p_.loop(within).kind)))
      within = p_.nodes[within].parent;
    const auto enough = [&](const Waited& w) { return w.Covers({needed, within}); };
    if (absl::c_any_of(before.waited, enough)) return false;
    Id child = now.path[level].child;
    if (carried) child = FirstOfStep(parent);
    if (KILN_DEFECT("synchronization.left-out") && !carried) return false;
    Add({parent, child, needed, within}, level);
    return true;
  }

  void RefuseBlocks(Id a, Id b, Id buffer) {
    if (KILN_DEFECT("synchronization.blocks")) return;
    status_ = absl::FailedPreconditionError(absl::StrCat(
        "blocks of ", Describe(p_, nest_), " would have to wait for each other: ", Describe(p_, a), " and ",
        Describe(p_, b), " use the same elements of buffer ", p_.Text(p_.buffers[buffer].name)));
  }

  // Refuses uses of one element by different thread blocks, which never wait for each other. The walk does not find all of
  // them, because it forgets accesses that all threads of a block have waited after.
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

  // Returns the innermost node whose loops are in the same iteration whenever `b` runs after `a`: outside of the outermost loop
  // that repeats both. Returns nullopt if an instance of one block never comes after another.
  std::optional<Id> LeastFixed(Id a, Id b) const {
    const Id both = a == b ? p_.nodes[a].parent : LowestCommonAncestor(p_, {a, b});
    Id outermost = kNone;
    for (Id at = both; at != kRoot; at = p_.nodes[at].parent)
      if (p_.IsLoop(at) && !OnAxis(p_, at) && p_.loop(at).extent.UpperBound() > 1) outermost = at;
    if (outermost != kNone) return p_.nodes[outermost].parent;
    return a == b ? std::nullopt : std::optional(both);
  }

  // Returns the child of a loop that runs first in an iteration or step.
  Id FirstOfStep(Id loop) const {
    Id child = p_.nodes[loop].first;
    if (p_.loop(loop).kind != LoopKind::kPipelined) return child;
    for (const PipelineStage& stage : p_.Stages(p_.loop(loop))) {
      if (stage.order == 0) return child;
      child = p_.nodes[child].next;
    }
    return child;
  }

  // Returns the smallest group of threads that includes all that may use one element in both accesses; kGrid if these may be in
  // different blocks.
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

  // True if instances of the block do nothing to each other by this buffer: each writes elements of its own, which no instance
  // reads. The memory of a temporary that one kernel uses may hold several elements in turn.
  bool WritesOtherElements(Id block, Id buffer, Id fixed) const {
    if (Reads(p_, block, buffer)) return false;
    const std::vector<Id> readers = Readers(p_, buffer);
    const bool keeps_all = p_.buffers[buffer].role != Role::kTemporary ||
                           absl::c_any_of(readers, [&](Id b) { return NestOf(p_, b) != nest_; });
    return keeps_all && WritesElementsOnce(p_, block, buffer, fixed);
  }

  // Adds a point, or widens the one that is there, and lets the walk pass it.
  void Add(SyncPoint point, size_t level) {
    const auto there =
        absl::c_find_if(plan_.points, [&](const SyncPoint& other) { return other.before == point.before; });
    if (there == plan_.points.end()) {
      plan_.points.push_back(point);
    } else {
      there->among = std::max(there->among, point.among);
      point = *there;
    }
    Pass(point, level);
  }

  // Marks the accesses before the point, which is at this level of the path, as ordered.
  void Pass(const SyncPoint& point, size_t level) {
    for (Touch& touch : touches_) {
      const size_t at = Divergence(touch.path, path_);
      // An access below the child of the point in this iteration comes after it, and so does one of an
      // earlier child of this iteration if the point is at the beginning.
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

  // True if child a of a node runs before its child b in an iteration or step.
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

  // Sets the groups that points wait for: the last point before each child that reads an asynchronous ring.
  void FindWaits() {
    for (const RingPlan& ring : plan_.rings) {
      if (!IsCommitted(ring)) continue;
      const auto stages = p_.Stages(p_.loop(ring.loop));
      const int32_t last_copy = LastCopy(ring.loop);
      for (const CarriedBuffer& c : CarriedBuffers(p_, ring.loop)) {
        if (c.buffer != ring.buffer) continue;
        for (const int reader : c.readers)
          Wait(ring.loop, reader, stages[reader].stage - stages[c.writer].stage, last_copy);
      }
    }
  }

  // Lets the threads wait for what a child reads that was copied `distance` steps before: at the last point
  // before the child, or, if that comes too early, each thread alone before the child.
  void Wait(Id loop, int reader, int32_t distance, int32_t last_copy) {
    const auto stages = p_.Stages(p_.loop(loop));
    const auto under_way = [&](int32_t order) { return order > last_copy ? distance : distance - 1; };
    SyncPoint* last = nullptr;
    int32_t last_order = -1, c = 0;
    Id child_that_reads = kNone;
    for (Id child = p_.nodes[loop].first; child != kNone; child = p_.nodes[child].next, ++c) {
      if (c == reader) child_that_reads = child;
      for (SyncPoint& point : plan_.points) {
        if (point.before != child || stages[c].order > stages[reader].order || stages[c].order <= last_order)
          continue;
        last = &point;
        last_order = stages[c].order;
      }
    }
    if (last == nullptr || under_way(last_order) < 0) {
      last_order = stages[reader].order;
      last = &plan_.points.emplace_back(SyncPoint{loop, child_that_reads, Owner::kThread});
    }
    const int32_t groups = under_way(last_order) + (KILN_DEFECT("synchronization.groups") ? 1 : 0);
    last->wait_groups = last->wait_groups < 0 ? groups : std::min(last->wait_groups, groups);
  }

  const Program& p_;
  Id nest_ = kNone;
  std::set<Id> written_;  // by blocks of the nest
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
