#include "backends/lower/kernels/synchronize.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"

namespace kiln::plan {
namespace {

bool IsThreads(const Node& node) {
  const Loop* loop = node.As<Loop>();
  return loop != nullptr && loop->run == Run::kAxis && IsThreadAxis(loop->axis);
}

bool HasThreads(const Node& node) {
  if (IsThreads(node)) return true;
  for (const Nodes& arm : node.arms)
    for (const Node& child : arm)
      if (HasThreads(child)) return true;
  return false;
}

struct Use {
  Id memory;
  int64_t copy;  // of a ring; -1: not known
  bool write;
  bool one_thread;  // the thread with number 0 alone
  // A write: its block, and the values of the loops around that the address does not depend on. An instance that
  // differs in other loops writes another element.
  Id block = kNone;
  std::vector<int64_t> outside = {};
  int64_t time = 0;
};

bool Conflict(const Use& a, const Use& b) {
  const bool same_elements = a.memory == b.memory && (a.copy == b.copy || a.copy < 0 || b.copy < 0);
  const bool different_elements = a.write && b.write && a.block == b.block && a.outside == b.outside;
  return same_elements && (a.write || b.write) && !(a.one_thread && b.one_thread) && !different_elements;
}

// Walks a kernel as a block runs it, with the uses since the last sync. Loops run until their rings have turned twice.
class Walker {
 public:
  using Places = std::unordered_set<const Node*>;

  Walker(const Program& program, const IndexPlan& indices) : p_(program), plan_(indices) {
    for (const Id loop : LoopsBelow(p_, kRoot)) {
      for (const Ring& ring : p_.Rings(p_.loop(loop))) {
        rings_[ring.buffer] = {loop, ring.depth};
        int64_t& turns = turns_[loop];
        turns = std::lcm(std::max<int64_t>(turns, 1), ring.depth);
      }
    }
  }

  // The nodes that a sync must come before: as few as possible.
  Places Find(const Node& kernel) {
    places_.clear();
    found_.clear();
    Walk(kernel);
    for (const Node* place : std::vector<const Node*>(found_)) {
      places_.erase(place);
      found_.clear();
      Walk(kernel);
      if (!found_.empty()) places_.insert(place);
      for (const Node* another : found_)
        if (another != place) places_.erase(another);
    }
    return places_;
  }

 private:
  struct Frame {
    const Node* node;
    int64_t begin;  // the time when the loop began
  };

  void Walk(const Node& kernel) {
    open_.clear();
    frames_.clear();
    time_ = 0;
    WalkNode(kernel);
  }

  void WalkNode(const Node& node) {
    ++time_;
    if (places_.contains(&node)) open_.clear();
    if (IsThreads(node) || !HasThreads(node)) return WalkPart(node);
    const Loop* loop = node.As<Loop>();
    if (loop == nullptr) return WalkArms(node);
    const bool bound = loops_.contains(loop->loop), on_axis = loop->run == Run::kAxis;
    const int64_t outside = bound ? loops_[loop->loop] : 0;
    const int64_t turns = turns_.contains(loop->loop) ? turns_[loop->loop] : 1;
    const int64_t count = on_axis                     ? 1
                          : loop->run == Run::kSerial ? std::min(loop->count, 2 * turns)
                                                      : loop->count;
    if (!on_axis) frames_.push_back({&node, time_});
    for (int64_t i = 0; i < count; ++i) {
      loops_[loop->loop] = outside + (loop->first + i) * loop->steps;
      for (const Node& child : node.arms[0]) WalkNode(child);
    }
    if (!on_axis) frames_.pop_back();
    bound ? void(loops_[loop->loop] = outside) : void(loops_.erase(loop->loop));
  }

  // One of the arms runs, or none.
  void WalkArms(const Node& node) {
    const std::vector<Use> before = open_;
    std::vector<Use> after = before;
    for (const Nodes& arm : node.arms) {
      open_ = before;
      for (const Node& child : arm) WalkNode(child);
      for (const Use& use : open_) Add(use, after);
    }
    open_ = std::move(after);
  }

  void WalkPart(const Node& node) {
    std::vector<Use> uses;
    Read(node, !IsThreads(node), uses);
    int64_t last = -1;  // the time of the last use that conflicts
    for (const Use& use : uses)
      for (const Use& open : open_)
        if (Conflict(open, use)) last = std::max(last, open.time);
    if (last >= 0) Place(node, last);
    for (const Use& use : uses) Add(use, open_);
  }

  // Puts a sync after a time: before this node, or before the outermost loop around it that began later.
  void Place(const Node& node, int64_t after) {
    const Node* place = &node;
    int64_t begin = time_;
    for (size_t f = frames_.size(); f-- > 0 && frames_[f].begin > after;) {
      place = frames_[f].node;
      begin = frames_[f].begin;
    }
    if (places_.insert(place).second) found_.push_back(place);
    std::erase_if(open_, [&](const Use& use) { return use.time < begin; });
  }

  static void Add(const Use& use, std::vector<Use>& uses) {
    for (Use& known : uses) {
      if (known.memory != use.memory || known.copy != use.copy || known.write != use.write ||
          known.one_thread != use.one_thread || known.block != use.block || known.outside != use.outside)
        continue;
      known.time = std::max(known.time, use.time);
      return;
    }
    uses.push_back(use);
  }

  void Read(const Node& node, bool one_thread, std::vector<Use>& uses) {
    if (const Leaf* leaf = node.As<Leaf>()) {
      const auto is_common = [&](Id buffer) {
        return p_.buffers[buffer].scope.owner != Owner::kThread &&
               plan_.buffers[buffer].place != Memory::kGlobal;
      };
      for (const Id buffer : ReadBuffers(p_, leaf->block))
        if (is_common(buffer))
          Add({plan_.MemoryOf(buffer), CopyOf(buffer), false, one_thread, kNone, {}, time_}, uses);
      const auto dests = p_.Accesses(p_.block(leaf->block).dests);
      const bool reduces = p_.block(leaf->block).monoid != kNone;
      for (size_t r = 0; r < dests.size(); ++r) {
        const Id buffer = dests[r].buffer, memory = plan_.MemoryOf(buffer);
        if (!is_common(buffer)) continue;
        const std::vector<int64_t> outside = Outside(plan_.blocks.at(leaf->block).dests[r]);
        Add({memory, CopyOf(buffer), true, one_thread, leaf->block, outside, time_}, uses);
        if (reduces) Add({memory, CopyOf(buffer), false, one_thread, kNone, {}, time_}, uses);
      }
    }
    for (const Nodes& arm : node.arms)
      for (const Node& child : arm) Read(child, one_thread, uses);
  }

  // The values of the loops around that the address does not depend on.
  std::vector<int64_t> Outside(const IndexSum& address) const {
    std::vector<int64_t> values;
    for (const auto& [loop, value] : loops_)
      if (!DependsOn(address, loop)) values.insert(values.end(), {loop, value});
    return values;
  }
  bool DependsOn(const IndexSum& sum, Id loop) const {
    return std::any_of(sum.splits.begin(), sum.splits.end(), [&](const IndexSplit& split) {
      if (split.source.kind == Source::Kind::kLoop) return split.source.id == loop;
      const auto mark = plan_.marks.find(split.source.id);
      return mark != plan_.marks.end() && DependsOn(mark->second, loop);
    });
  }

  int64_t CopyOf(Id buffer) const {
    const auto ring = rings_.find(buffer);
    if (ring == rings_.end()) return -1;
    const auto value = loops_.find(ring->second.first);
    return value == loops_.end() ? -1 : value->second % ring->second.second;
  }

  const Program& p_;
  const IndexPlan& plan_;
  std::unordered_map<Id, std::pair<Id, int64_t>> rings_;  // by buffer: the loop and the number of copies
  std::unordered_map<Id, int64_t> turns_;                 // by loop: iterations after which its copies repeat
  std::map<Id, int64_t> loops_;                           // the values of the loops around
  std::vector<Frame> frames_;                             // those that may have a sync before them
  std::vector<Use> open_;                                 // since the last sync
  int64_t time_ = 0;
  Places places_;
  std::vector<const Node*> found_;  // in this walk
};

void Insert(const Walker::Places& before, Nodes& nodes) {
  Nodes with;
  for (Node& node : nodes) {
    if (before.contains(&node)) with.push_back({Sync{Owner::kBlock}, {}});
    for (Nodes& arm : node.arms) Insert(before, arm);
    with.push_back(std::move(node));
  }
  nodes = std::move(with);
}

}  // namespace

void Synchronize(const Program& program, const IndexPlan& indices, Nodes& nodes) {
  Walker::Places before;
  for (const Node& kernel : nodes) before.merge(Walker(program, indices).Find(kernel));
  Insert(before, nodes);
}

}  // namespace kiln::plan
