#include "lang/reference/current_owner.h"

#include <algorithm>

#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/base/mixer.h"

namespace kiln {

CurrentOwner::CurrentOwner(const Program& program) : program_(program) {
  if (!CheckOwners(program).ok()) return;  // no ownership is claimed, so none is checked
  for (const Id loop : LoopsBelow(program, kRoot)) {
    if (!OnAxis(program, loop)) continue;
    const Id nest = NestOf(program, loop);
    if (!threads_.contains(nest)) threads_.emplace(nest, ThreadsOf(program, nest));
  }
}

void CurrentOwner::Iterate(Id loop, int64_t iteration) {
  if (!threads_.empty() && OnAxis(program_, loop))
    axes_[static_cast<int>(program_.loop(loop).kind)] = {loop, iteration};
}

void CurrentOwner::EndLoop(Id loop) { axes_[static_cast<int>(program_.loop(loop).kind)] = {}; }

uint64_t CurrentOwner::Now(Id buffer) const {
  Mixer mixer;
  for (const LoopKind kind : {LoopKind::kBlockX, LoopKind::kBlockY, LoopKind::kBlockZ}) {
    mixer.Add(static_cast<uint64_t>(On(kind).loop));
    mixer.Add(static_cast<uint64_t>(On(kind).iteration));
  }
  const Owner owner = program_.buffers[buffer].scope.owner;
  if (owner == Owner::kBlock || owner == Owner::kCluster) return mixer.Finish().low;
  const Axis x = On(LoopKind::kThreadX), y = On(LoopKind::kThreadY), z = On(LoopKind::kThreadZ);
  Threads threads;
  for (const Axis& axis : {x, y, z}) {
    if (axis.loop != kNone) threads = threads_.at(NestOf(program_, axis.loop));
  }
  const int64_t thread = x.iteration + threads.x * (y.iteration + threads.y * z.iteration);
  mixer.Add((y.loop != kNone ? 1 : 0) + (z.loop != kNone ? 2 : 0));
  if (owner == Owner::kThread) mixer.Add(x.loop != kNone ? 1 : 0);
  mixer.Add(static_cast<uint64_t>(thread / LanesOf(owner)));
  return mixer.Finish().low;
}

}  // namespace kiln
