#include "lang/threads/shared_places.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/base/defect.h"

namespace kiln {
namespace {

struct Alive {  // positions among the children
  int first = 0, last = 0;
};

// Returns the innermost of the nested loops on block axes that are around the whole kernel. Returns kNone if the kernel
// has no such loop.
Id LoopOfBlocks(const Program& p, Id nest) {
  Id inner = kNone;
  for (Id at = nest; p.IsLoop(at) && IsBlockAxis(p.loop(at).kind); at = p.nodes[at].first) {
    inner = at;
    if (p.nodes[at].first != p.nodes[at].last) break;
  }
  return inner;
}

class KernelPlaces {
 public:
  KernelPlaces(const Program& program, const SyncPlan& plan, Id nest, Id loop) : p_(program), plan_(plan) {
    const int64_t threads = ThreadsOf(p_, nest).Count();
    for (Id child = p_.nodes[loop].first; child != kNone; child = p_.nodes[child].next, ++children_) {
      waits_.push_back(absl::c_any_of(plan.points, [&](const SyncPoint& point) {
        return point.before == child && (point.among >= Owner::kBlock || LanesOf(point.among) >= threads);
      }));
      for (const Id block : BlocksOf(p_, child))
        for (const auto& buffers : {ReadBuffers(p_, block), WrittenBuffers(p_, block)})
          for (const Id buffer : buffers) Use(buffer);
    }
  }

  // Assigns buffers in shared memory that are not alive at the same time to one place, and appends each of them to
  // `places` with the number of its place. Leaves out buffers that share their place with no other buffer.
  void AddPlaces(std::vector<SharedPlace>& places) const {
    std::vector<std::pair<Id, Alive>> by_first(lives_.begin(), lives_.end());
    absl::c_sort(by_first, [](const auto& a, const auto& b) {
      return std::pair(a.second.first, a.first) < std::pair(b.second.first, b.first);
    });
    std::vector<std::vector<Id>> taken;  // by place: its buffers, one after the other
    for (const auto& [buffer, life] : by_first) {
      const auto place = absl::c_find_if(taken, [&, first = life.first](const std::vector<Id>& before) {
        return MayFollow(lives_.at(before.back()).last, first);
      });
      if (place == taken.end()) {
        taken.push_back({buffer});
      } else {
        place->push_back(buffer);
      }
    }
    int32_t number = places.empty() ? 0 : places.back().place + 1;
    for (const std::vector<Id>& buffers : taken) {
      if (buffers.size() < 2) continue;
      for (const Id buffer : buffers) places.push_back({buffer, number});
      ++number;
    }
  }

 private:
  void Use(Id buffer) {
    const Buffer& b = p_.buffers[buffer];
    const bool ahead = absl::c_any_of(
        plan_.rings, [&](const RingPlan& ring) { return ring.buffer == buffer && ring.counts_arrivals; });
    if (b.scope.storage != Storage::kShared || b.role != Role::kTemporary || ahead) return;
    lives_.try_emplace(buffer, Alive{children_, children_}).first->second.last = children_;
  }

  // True if all threads of a block wait for each other after the kernel's child `last` and not later than just before
  // child `first`. Then a buffer that is first used in `first` may have the place of one last used in `last`.
  bool MayFollow(int last, int first) const {
    const auto end = waits_.begin() + first + 1;
    return last < first &&
           (std::find(waits_.begin() + last + 1, end, true) != end || KILN_DEFECT("synchronization.places"));
  }

  const Program& p_;
  const SyncPlan& plan_;
  int children_ = 0;
  std::vector<bool> waits_;  // by child: all threads wait for each other before it
  std::map<Id, Alive> lives_;
};

}  // namespace

std::vector<SharedPlace> PlacesInTurn(const Program& program, const SyncPlan& plan) {
  std::vector<SharedPlace> places;
  for (Id nest = program.nodes[kRoot].first; nest != kNone; nest = program.nodes[nest].next) {
    const Id loop = LoopOfBlocks(program, nest);
    if (loop != kNone) KernelPlaces(program, plan, nest, loop).AddPlaces(places);
  }
  return places;
}

}  // namespace kiln
