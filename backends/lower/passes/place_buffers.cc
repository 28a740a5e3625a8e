#include "backends/lower/passes/place_buffers.h"

#include <algorithm>
#include <map>

#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/instances.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/base/check.h"
#include "lang/base/defect.h"
#include "lang/program/layout.h"

namespace kiln {
namespace {

using Accesses = std::vector<const PlannedAccess*>;

std::vector<Id> PathFromRoot(const Program& p, Id node) {
  std::vector<Id> path;
  for (Id at = node; at != kNone; at = p.nodes[at].parent) path.push_back(at);
  std::reverse(path.begin(), path.end());
  return path;
}

// Returns the path from the root to the innermost node that contains all accesses.
std::vector<Id> CommonPath(const Program& p, const Accesses& accesses) {
  std::vector<Id> common = PathFromRoot(p, p.nodes[accesses[0]->node].parent);
  for (const PlannedAccess* access : accesses) {
    const std::vector<Id> path = PathFromRoot(p, p.nodes[access->node].parent);
    const auto end = std::mismatch(common.begin(), common.end(), path.begin(), path.end()).first;
    common.erase(end, common.end());
  }
  return common;
}

// Returns the part of the path `common` (from the root to a node) above the first loop of several iterations that is
// vectorized, since its lanes are live at the same time, or in which one iteration reads elements of the buffer that
// another wrote.
std::vector<Id> InTurns(const Program& p, Id buffer, std::vector<Id> common) {
  const auto shared = std::find_if(common.begin(), common.end(), [&](Id node) {
    return p.IsLoop(node) && p.loop(node).extent.Known() > 1 &&
           (p.loop(node).kind == LoopKind::kVectorized ||
            (ReadsBeside(p, buffer, node) && !KILN_DEFECT("plan.place.beside")));
  });
  common.erase(shared, common.end());
  return common;
}

// True if iterations of the loop never use one owner's memory at the same time. Iterations of a loop on an axis of a
// GPU run at the same time, on different threads or blocks; so each of them must be an owner itself.
bool HasItsOwn(const Program& p, Owner owner, Id loop) {
  if (IsThreadAxis(p.loop(loop).kind)) return owner == Owner::kThread;
  return !IsBlockAxis(p.loop(loop).kind) || owner <= Owner::kBlock;
}

// True if several iterations of a loop on an axis of a GPU may store the same elements of the buffer. They do so at
// different times. So the buffer must keep the elements of all iterations of the loops inside such a loop.
bool MayRepeatStores(const Program& p, Id buffer, Id axis) {
  const std::vector<Id> writers = Writers(p, buffer);
  return std::any_of(writers.begin(), writers.end(), [&](Id writer) { return !TellsApart(p, writer, axis); });
}

struct Axis {
  int64_t extent = 0;
  std::vector<IndexSum> rests;  // by access: the axis's index relative to the base
};

bool IsAxis(const Program& p, Id node) {
  return p.IsLoop(node) && (IsBlockAxis(p.loop(node).kind) || IsThreadAxis(p.loop(node).kind));
}

// Returns the program's first loop on each axis of a GPU. Returns no loops if the program is for a CPU.
std::vector<Id> FirstLoopsOnAxes(const Program& p) {
  std::vector<Id> first;
  for (const Id loop : LoopsBelow(p, kRoot)) {
    const bool known =
        std::any_of(first.begin(), first.end(), [&](Id f) { return p.loop(f).kind == p.loop(loop).kind; });
    if (IsAxis(p, loop) && !known) first.push_back(loop);
  }
  return first;
}

// The outer loops of a buffer: its memory holds only the elements of one iteration of them at a time. These are loops
// around all accesses, and loops on axes of a GPU whose iterations have memory of their own. The value of a loop on an
// axis is the number of the thread or block. So the first loop on an axis stands for all loops on it.
struct OuterLoops {
  std::vector<Id> common = {};
  std::vector<Id> axes = {};  // the first loop on each such axis
  Id repeated = kNone;  // an axis whose iterations may store the same elements; what is inside is not outer

  // Returns the outer loop that stands for the loop `source`: the first loop on the same axis of a GPU, or the loop
  // itself. Returns kNone if it is not an outer loop.
  Id Of(const Program& p, Source source) const {
    if (source.kind != Source::Kind::kLoop) return kNone;
    if (IsAxis(p, source.id))
      for (const Id first : axes)
        if (p.loop(first).kind == p.loop(source.id).kind) return first;
    return std::find(common.begin(), common.end(), source.id) == common.end() ? kNone : source.id;
  }
};

// Returns the outer loops of a temporary. Its memory holds the elements of one iteration of these loops at a time.
// `in_turns`: the loops around all its accesses in which no iteration reads elements that another one wrote.
OuterLoops LoopsOutside(const Program& p, Id buffer, const std::vector<Id>& in_turns) {
  const Owner owner = p.buffers[buffer].scope.owner;
  OuterLoops outer;
  for (const Id node : in_turns) {
    if (!p.IsLoop(node)) continue;
    if (HasItsOwn(p, owner, node)) {
      outer.common.push_back(node);
    } else if (MayRepeatStores(p, buffer, node)) {
      outer.repeated = node;
      break;
    }
  }
  for (const Id first : FirstLoopsOnAxes(p))
    if (HasItsOwn(p, owner, first)) outer.axes.push_back(first);
  return outer;
}

// Returns the extent of one axis of a buffer in memory, and the index of each access on it. If all accesses have the
// same terms over outer loops, leaves these terms out, so that the extent shrinks to the range of the other terms.
// Otherwise, or if this saves nothing, keeps the full extent.
Axis PlaceAxis(const Program& p, const Accesses& accesses, size_t axis, int64_t full,
               const OuterLoops& outer) {
  Axis whole{full, {}}, relative;
  IndexSum base;
  Interval touched{INT64_MAX, INT64_MIN};
  bool same = true;
  for (const PlannedAccess* access : accesses) {
    const IndexSum& index = access->axes[axis];
    whole.rests.push_back(index);
    IndexSum above, rest = IndexSum::Constant(index.offset);
    for (IndexSplit split : index.splits) {
      const Id loop = outer.Of(p, split.source);
      if (loop != kNone) split.source.id = loop;
      (loop != kNone ? above : rest).splits.push_back(split);
    }
    if (access == accesses[0]) base = above;
    same &= above == base;
    const Interval bounds = Bounds(rest, Extents(p));
    touched = {std::min(touched.min, bounds.min), std::max(touched.max, bounds.max)};
    relative.rests.push_back(std::move(rest));
  }
  if (!same || base.IsConstant()) return whole;
  relative.extent = touched.max - touched.min + 1;
  if (relative.extent >= full) return whole;
  for (IndexSum& rest : relative.rests) rest.offset -= touched.min;
  return relative;
}

// Returns the pipelined loop that has a ring of the buffer, that is, several copies that its iterations use in turn,
// and the ring. The loop is kNone if there is no ring.
std::pair<Id, Ring> RingOf(const Program& p, Id buffer) {
  for (const Id loop : LoopsBelow(p, kRoot))
    for (const Ring& ring : p.Rings(p.loop(loop)))
      if (ring.buffer == buffer) return {loop, ring};
  return {kNone, {}};
}

Memory PlaceOf(const Program& p, const PlanOptions& options, const Buffer& buffer, const BufferPlan& plan) {
  if (buffer.role == Role::kStatus) return Memory::kAlloca;
  if (buffer.role != Role::kTemporary || plan.crosses)
    return buffer.data != kNone ? Memory::kGlobal : Memory::kParameter;
  const Storage storage = buffer.scope.storage;
  if (!options.kernels && FirstLoopsOnAxes(p).empty()) {
    const bool small = plan.elements * SizeOf(buffer.dtype) <= options.stack_bytes;
    return small || storage == Storage::kRegister ? Memory::kAlloca : Memory::kHeap;
  }
  return storage == Storage::kShared   ? Memory::kShared
         : storage == Storage::kGlobal ? Memory::kWorkspace
                                       : Memory::kAlloca;
}

void PlaceBuffer(const Program& p, const PlanOptions& options, Id id, const Accesses& accesses,
                 BufferPlan& plan) {
  const Buffer& buffer = p.buffers[id];
  std::vector<int64_t> extents;
  if (buffer.layout.axes.count > 0) {
    for (const Id mark : p.List(buffer.layout.axes)) extents.push_back(p.marks[mark].extent.Known());
  } else {
    for (const Extent& extent : p.Dims(buffer.shape)) extents.push_back(extent.Known());
  }
  for (const PlannedAccess* access : accesses) (access->prepare ? plan.in_prepare : plan.in_main) = true;
  OuterLoops outer;
  if (buffer.role == Role::kTemporary) {
    plan.crosses = plan.in_prepare && plan.in_main;
    const std::vector<Id> in_turns = InTurns(p, id, CommonPath(p, accesses));
    plan.per_iteration =
        std::any_of(in_turns.begin(), in_turns.end(), [&](Id node) { return RunsOnThreads(p, node); });
    outer = LoopsOutside(p, id, in_turns);
  }
  const Id repeated = outer.repeated;

  std::vector<Axis> axes;
  const auto place = [&] {
    axes.clear();
    int64_t elements = 1;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      axes.push_back(PlaceAxis(p, accesses, axis, extents[axis], outer));
      elements *= axes.back().extent;
    }
    return elements;
  };
  const Swizzle s = buffer.layout.swizzle;
  if (!IsOneToOne(s, place())) {
    outer = {};  // the whole buffer is large enough for its swizzle
    place();
  }
  std::vector<IndexSum> addresses(accesses.size());
  for (Axis& placed : axes) {
    for (size_t i = 0; i < accesses.size(); ++i) {
      addresses[i] = std::move(addresses[i]) * placed.extent + std::move(placed.rests[i]);
    }
    plan.elements *= placed.extent;
  }
  if (const auto [loop, ring] = RingOf(p, id);
      options.rings && loop != kNone && (repeated == kNone || !IsAncestor(p, repeated, loop))) {
    const IndexSplit copy{Source::Loop(loop), plan.elements, 1, ring.depth};
    for (IndexSum& address : addresses) address.splits.push_back(copy);
    plan.elements *= ring.depth;
  }
  for (size_t i = 0; i < accesses.size(); ++i) *accesses[i]->address = Simplify(addresses[i], Extents(p));

  plan.place = PlaceOf(p, options, buffer, plan);
}

// Gives each buffer in shared memory its offset in the arena of its kernel (a child of the root), and each buffer in
// the workspace its offset there. Buffers that PlanOptions::places puts in one place get the same offset.
void GiveOffsets(const Program& p, const PlanOptions& options, const std::vector<PlannedAccess>& accesses,
                 IndexPlan& plan) {
  constexpr int64_t kAlignShared = 16, kAlignWorkspace = 256;
  std::map<Id, int64_t> ends;  // by kernel; that of the root is the workspace
  const auto bytes_of = [&](Id id) { return plan.buffers[id].elements * SizeOf(p.buffers[id].dtype); };
  std::map<int32_t, int64_t> sizes, offsets;  // of places with several buffers
  for (const auto& [id, place] : options.places) sizes[place] = std::max(sizes[place], bytes_of(id));
  for (size_t id = 0; id < plan.buffers.size(); ++id) {
    BufferPlan& buffer = plan.buffers[id];
    if (!buffer.used() || !HasOffset(buffer.place)) continue;
    const auto access = std::find_if(accesses.begin(), accesses.end(),
                                     [&](const PlannedAccess& a) { return a.buffer == static_cast<Id>(id); });
    const bool shared = buffer.place == Memory::kShared;
    const auto in_turn = options.places.find(static_cast<Id>(id));
    const bool shares = shared && in_turn != options.places.end();
    if (shares && offsets.contains(in_turn->second)) {
      buffer.offset = offsets.at(in_turn->second);
      continue;
    }
    int64_t& end = ends[shared ? PathFromRoot(p, access->node)[1] : kRoot];
    const int64_t align = shared ? kAlignShared : kAlignWorkspace;
    buffer.offset = (end + align - 1) / align * align;
    end = buffer.offset + (shares ? sizes.at(in_turn->second) : bytes_of(static_cast<Id>(id)));
    if (shares) offsets[in_turn->second] = buffer.offset;
  }
}

}  // namespace

void PlaceBuffers(const Program& program, const PlanOptions& options,
                  const std::vector<PlannedAccess>& accesses, IndexPlan& plan) {
  for (size_t id = 0; id < program.buffers.size(); ++id) {
    Accesses mine;
    for (const PlannedAccess& access : accesses) {
      if (access.buffer == static_cast<Id>(id)) mine.push_back(&access);
    }
    if (!mine.empty()) PlaceBuffer(program, options, static_cast<Id>(id), mine, plan.buffers[id]);
  }
  GiveOffsets(program, options, accesses, plan);
}

}  // namespace kiln
