#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/loops.h"
#include "lang/analysis/placement.h"
#include "lang/program/layout.h"
#include "lang/threads/held_registers.h"
#include "lang/threads/synchronization.h"
#include "validator/checks/check.h"

namespace kiln {
namespace {

constexpr int64_t kAlign = 16, kWarp = 32, kSlotBytes = 8;

int64_t RoundUp(int64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

// Returns the bytes of shared memory through which the threads of a reduction exchange partial results. If the
// reduction runs along thread-x, shuffles first combine the threads of a warp, or of thread-x if it is a shorter power
// of two. Then each such group, or else each thread, has a slot of 8 bytes for each result and each vector lane.
// Returns 0 if shuffles combine all threads.
int64_t ExchangeBytes(const LoopNestSummary& nests, const NestBlock& block, const Threads& threads) {
  int64_t across = 1, of_vectors = 1;
  bool along_x = false;
  for (int d = 0; d < block.depth; ++d) {
    const NestLoop& loop = nests.loops()[nests.path(block)[d]];
    if (loop.kind == LoopKind::kVectorized) of_vectors = loop.extent;
    if (!IsThreadAxis(loop.kind) || (block.reduction & LoopNestSummary::Bit(d)) == 0) continue;
    across *= loop.extent;
    along_x |= loop.kind == LoopKind::kThreadX && loop.extent > 1;
  }
  const bool power = (threads.x & (threads.x - 1)) == 0;
  const int64_t lanes = !along_x                      ? 1
                        : threads.x % kWarp == 0      ? kWarp
                        : threads.x <= kWarp && power ? threads.x
                                                      : 1;
  if (across <= lanes) return 0;
  return threads.Count() / lanes * nests.program().block(block.node).dests.count * of_vectors * kSlotBytes;
}

// True if a loop around the buffer's allocation carries its values: an iteration may read what another iteration wrote,
// and after compaction some index of the buffer still depends on a loop around the allocation.
bool IsCarried(const LoopNestSummary& nests, Id buffer) {
  const NestBuffer& placed = nests.buffers()[buffer];
  const auto is_outside = [&](const NestTerm& t) { return nests.loops()[t.loop].depth < placed.home; };
  bool depends = false;
  for (int32_t a = placed.first; a >= 0; a = nests.accesses()[a].next)
    for (const NestAxis& axis : nests.axes(nests.accesses()[a]))
      depends |= absl::c_any_of(nests.terms(axis), is_outside);
  const NestBlock& block = nests.blocks()[nests.accesses()[placed.first].block];
  return depends && absl::c_any_of(nests.path(block).first(placed.home), [&](int32_t at) {
           const NestLoop& loop = nests.loops()[at];
           return loop.extent > 1 && ReadsBeside(nests.program(), buffer, loop.node);
         });
}

// Returns the bytes of a buffer: those of all its elements if a loop carries its values from one iteration to another
// (IsCarried), otherwise those that remain after compaction.
int64_t BytesOfBuffer(const LoopNestSummary& nests, Id buffer) {
  const Program& p = nests.program();
  return IsCarried(nests, buffer) ? LayoutElements(p, buffer) * SizeOf(p.buffers[buffer].dtype)
                                  : TemporaryBytes(nests, buffer);
}

std::optional<std::string> Refuses(const LoopNestSummary& nests, const Target& target) {
  const Program& p = nests.program();
  for (Id nest = p.nodes[kRoot].first; nest != kNone; nest = p.nodes[nest].next) {
    int64_t bytes = SharedBytes(nests, nest, {});
    if (bytes <= target.gpu->shared_per_block) continue;
    const absl::StatusOr<SyncPlan> plan = PlanSynchronization(p);
    if (plan.ok()) bytes = SharedBytes(nests, nest, plan->places);
    if (bytes <= target.gpu->shared_per_block) continue;
    return absl::StrCat("the kernel of ", Describe(p, nest), " needs ", bytes,
                        " bytes of shared memory; a block of ", target.gpu->name, " has ",
                        target.gpu->shared_per_block);
  }
  return std::nullopt;
}

}  // namespace

int64_t SharedBytes(const LoopNestSummary& nests, Id kernel, absl::Span<const SharedPlace> places) {
  const Program& p = nests.program();
  const Threads threads = ThreadsOf(p, kernel);
  int64_t exchange = 0, bytes = 0;
  absl::InlinedVector<Id, 8> seen;
  absl::InlinedVector<int64_t, 8> largest(places.size());  // by place
  for (const NestBlock& block : nests.blocks()) {
    if (NestOf(p, block.node) != kernel) continue;
    if (block.leaf) exchange = std::max(exchange, ExchangeBytes(nests, block, threads));
    for (const NestAccess& access : nests.accesses(block)) {
      const Buffer& buffer = p.buffers[access.buffer];
      const bool known = std::find(seen.begin(), seen.end(), access.buffer) != seen.end();
      if (buffer.scope.storage != Storage::kShared || known) continue;
      seen.push_back(access.buffer);
      const int64_t own = RoundUp(CopiesOf(nests, access.buffer) * BytesOfBuffer(nests, access.buffer));
      const auto place = absl::c_find_if(places, [&](const auto& at) { return at.buffer == access.buffer; });
      int64_t none = 0, &before = place == places.end() ? none : largest[place->place];
      bytes += std::max<int64_t>(0, own - before);
      before = std::max(before, own);
    }
  }
  return bytes + exchange;
}

const Check kGpuSharedCheck{"gpu-shared", Refuses, IsForGpus};

}  // namespace kiln
