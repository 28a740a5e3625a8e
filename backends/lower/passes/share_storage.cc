#include "backends/lower/passes/share_storage.h"

#include <algorithm>

#include "backends/lower/passes/unrolled.h"
#include "lang/analysis/dataflow.h"
#include "lang/base/defect.h"

namespace kiln {
namespace {

// The time in which a buffer is live: the positions of the first and last child of the program's root that accesses it.
// `prepare`: the prepare phase writes it. `starts_written`: its first access is a plain store.
struct Life {
  Id buffer = kNone;
  int first = -1, last = -1;
  bool prepare = false;
  bool starts_written = false;
};

struct Slot {
  Id owner = kNone;
  int last = -1;
  bool prepare = false;
  int64_t elements = 0;
};

std::vector<Life> Lives(const Program& p) {
  std::vector<Life> lives(p.buffers.size());
  int position = 0;
  const auto touch = [&](Id buffer, bool writes) {
    Life& life = lives[buffer];
    if (life.first < 0) {
      life.first = position;
      life.starts_written = writes;
    }
    life.last = position;
  };
  for (Id child = p.nodes[kRoot].first; child != kNone; child = p.nodes[child].next, ++position) {
    for (const Id block : BlocksOf(p, child)) {
      for (const Id buffer : ReadBuffers(p, block)) touch(buffer, false);
      for (const Id buffer : WrittenBuffers(p, block)) {
        touch(buffer, !p.block(block).accumulates);
        lives[buffer].prepare = p.nodes[child].prepare;
      }
    }
  }
  for (size_t id = 0; id < lives.size(); ++id) lives[id].buffer = static_cast<Id>(id);
  return lives;
}

}  // namespace

void ShareStorage(const Program& p, IndexPlan& plan) {
  const std::vector<bool> registers = KeptInRegisters(p, plan);
  std::vector<Life> lives = Lives(p);
  std::erase_if(lives, [&](const Life& life) {
    const BufferPlan& buffer = plan.buffers[life.buffer];
    const bool memory = buffer.place == Memory::kAlloca || buffer.place == Memory::kHeap;
    return !buffer.used() || !memory || p.buffers[life.buffer].role != Role::kTemporary ||
           p.buffers[life.buffer].scope.storage == Storage::kRegister || registers[life.buffer] ||
           buffer.per_iteration || buffer.crosses || !life.starts_written;
  });
  std::sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) {
    return a.first != b.first ? a.first < b.first : a.buffer < b.buffer;
  });
  std::vector<Slot> slots;
  for (const Life& life : lives) {
    BufferPlan& buffer = plan.buffers[life.buffer];
    Slot* best = nullptr;
    const auto misfit = [&](const Slot& slot) { return std::abs(slot.elements - buffer.elements); };
    for (Slot& slot : slots) {
      const bool fits = (slot.last < life.first || KILN_DEFECT("plan.share.lives")) &&
                        slot.prepare == life.prepare && plan.buffers[slot.owner].place == buffer.place &&
                        p.buffers[slot.owner].dtype == p.buffers[life.buffer].dtype;
      if (fits && (best == nullptr || misfit(slot) < misfit(*best))) best = &slot;
    }
    if (best == nullptr) {
      slots.push_back({life.buffer, life.last, life.prepare, buffer.elements});
      continue;
    }
    buffer.shares = best->owner;
    best->last = life.last;
    best->elements = std::max(best->elements, buffer.elements);
  }
}

int64_t ElementsHeld(const IndexPlan& plan, Id buffer) {
  int64_t elements = plan.buffers[buffer].elements;
  for (const BufferPlan& other : plan.buffers) {
    if (other.shares == buffer) elements = std::max(elements, other.elements);
  }
  return elements;
}

}  // namespace kiln
