#include "testing/plan_threads.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "lang/program/text_names.h"
#include "testing/plan_fault.h"

namespace kiln {
namespace {

constexpr int64_t kMaxThreads = int64_t{1} << 20;                              // per block
constexpr int64_t kThreadsOf[] = {1, 32, 128, kMaxThreads};                    // by Owner
constexpr Owner kOwners[] = {Owner::kBlock, Owner::kWarpgroup, Owner::kWarp};  // by position in PlanSyncs

// Returns true if `past` is before `now`: both are of one thread, or a sync is between them, of the smallest warp,
// warpgroup or block that has both threads.
bool IsBefore(const PlanThread& past, const PlanThread& now) {
  if (past.NumberOf(Owner::kThread) == now.NumberOf(Owner::kThread)) return true;
  for (size_t i = std::size(kOwners); i-- > 0;)
    if (past.NumberOf(kOwners[i]) == now.NumberOf(kOwners[i])) return past.syncs[i] < now.syncs[i];
  return false;
}

}  // namespace

int64_t PlanThread::NumberOf(Owner owner) const {
  if (owner > Owner::kBlock) return 0;
  return block * kMaxThreads + number / kThreadsOf[static_cast<int>(owner)];
}

size_t PlanAxis(LoopKind axis) {
  constexpr LoopKind kAxes[] = {LoopKind::kThreadX, LoopKind::kThreadY, LoopKind::kThreadZ,
                                LoopKind::kBlockX,  LoopKind::kBlockY,  LoopKind::kBlockZ};
  return absl::c_find(kAxes, axis) - std::begin(kAxes);
}

PlanGrid::PlanGrid(const plan::Node& node) { Read(node); }

void PlanGrid::Read(const plan::Node& node) {
  if (const plan::Loop* loop = node.As<plan::Loop>(); loop != nullptr && loop->run == plan::Run::kAxis) {
    is_kernel_ = true;
    int64_t& size = sizes_.at(PlanAxis(loop->axis));
    size = std::max(size, loop->first + loop->count);
  }
  for (const plan::Nodes& arm : node.arms)
    for (const plan::Node& child : arm) Read(child);
}

PlanPlace PlanGrid::PlaceOf(const PlanThread& thread) const {
  PlanPlace place;
  int64_t rest = thread.block * threads() + thread.number;
  for (size_t axis = 0; axis < place.size(); rest /= sizes_[axis++]) place[axis] = rest % sizes_[axis];
  return place;
}

int64_t PlanGrid::Distance(LoopKind axis) const {
  int64_t distance = 1;
  for (size_t before = 0; before < PlanAxis(axis); ++before) distance *= sizes_[before];
  return distance;
}

PlanBlock::PlanBlock(int64_t threads) : threads_(threads) {
  if (threads > 1) phases_.insert({-1, -1, -1});
}

void PlanBlock::Meet(const plan::Sync& sync, PlanThread& thread) {
  if (sync.scope > Owner::kBlock) Fail("a sync of more than a block: blocks run one after another");
  if (sync.scope == Owner::kThread) return;
  for (size_t i = 0; i < std::size(kOwners); ++i) thread.syncs[i] += kOwners[i] <= sync.scope;
  phases_.insert(thread.syncs);
  const int64_t owner = thread.NumberOf(sync.scope);
  const auto is_here = [&](const Meeting& meeting) {
    return meeting.sync == &sync && meeting.owner == owner && meeting.syncs == thread.syncs;
  };
  auto here = absl::c_find_if(meetings_, is_here);
  if (here == meetings_.end()) here = meetings_.insert(here, {&sync, owner, thread.syncs});
  ++here->threads;
}

void PlanBlock::EndPhase() {
  for (const Meeting& meeting : meetings_) {
    const int scope = static_cast<int>(meeting.sync->scope);
    const int64_t first = meeting.owner % kMaxThreads * kThreadsOf[scope];
    const int64_t all = std::min(kThreadsOf[scope], threads_ - first);
    if (meeting.threads != all)
      Fail("a sync of a ", kOwnerNames[scope], " that ", meeting.threads, " of ", all, " threads reach");
  }
  meetings_.clear();
}

bool PlanUses::Add(const PlanThread& by, PlanUse use) {
  const auto clashes = [&](const Past& past) {
    const bool reads = use == PlanUse::kRead && past.use == PlanUse::kRead;
    const bool combines = use == PlanUse::kCombine && past.use == PlanUse::kCombine;
    return !reads && !(combines && past.by.block == by.block) && !IsBefore(past.by, by);
  };
  if (absl::c_any_of(past_, clashes)) return false;
  // Removes uses that need not be kept: a use of the same kind by the same thread and, if the new use is a write, all
  // that are before it. A later use that clashes with one of the removed uses clashes with the new one too.
  std::erase_if(past_, [&](const Past& past) {
    const bool is_again = past.use == use && past.by.NumberOf(Owner::kThread) == by.NumberOf(Owner::kThread);
    return is_again || (use == PlanUse::kWrite && IsBefore(past.by, by));
  });
  past_.push_back({by, use});
  return true;
}

}  // namespace kiln
