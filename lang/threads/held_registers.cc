#include "lang/threads/held_registers.h"

#include <algorithm>
#include <map>

#include "lang/analysis/legality.h"

namespace kiln {
namespace {

constexpr int64_t kRegisterBytes = 4;

struct Life {
  int32_t first = 0, last = 0;  // positions among the blocks
  int64_t registers = 0;
};

bool IsInRegisters(const Buffer& buffer) {
  return buffer.scope.owner <= Owner::kWarpgroup && buffer.scope.storage != Storage::kStack;
}

// Returns how many elements of a buffer one thread may touch with this access, at most the size of the buffer. Gaps
// between the elements do not count: a thread's elements j * 256 + thread take one register for each j.
int64_t ElementsOf(const LoopNestSummary& nests, const NestAccess& access) {
  int64_t elements = 1;
  for (const NestAxis& axis : nests.axes(access)) {
    int64_t values = 1;
    for (const NestTerm& term : nests.terms(axis)) values *= term.values;
    elements *= std::min(axis.size, values);
  }
  return std::min(elements, nests.buffers()[access.buffer].elements);
}

}  // namespace

int64_t CopiesOf(const LoopNestSummary& nests, Id buffer) {
  const Program& p = nests.program();
  for (const NestLoop& loop : nests.loops()) {
    if (loop.kind != LoopKind::kPipelined) continue;
    for (const Ring& ring : p.Rings(p.loop(loop.node)))
      if (ring.buffer == buffer) return std::max(1, ring.depth);
  }
  return 1;
}

int64_t HeldRegisters(const LoopNestSummary& nests, Id nest) {
  const Program& p = nests.program();
  std::map<Id, Life> lives;
  int32_t begin = -1, end = -1;
  for (int32_t b = 0; b < static_cast<int32_t>(nests.blocks().size()); ++b) {
    const NestBlock& block = nests.blocks()[b];
    if (NestOf(p, block.node) != nest) continue;
    if (begin < 0) begin = b;
    end = b + 1;
    for (const NestAccess& access : nests.accesses(block)) {
      const Buffer& buffer = p.buffers[access.buffer];
      if (!IsInRegisters(buffer)) continue;
      Life& life = lives.try_emplace(access.buffer, Life{b, b}).first->second;
      life.last = b;
      const int64_t bytes = ElementsOf(nests, access) * SizeOf(buffer.dtype);
      life.registers = std::max(
          life.registers, CopiesOf(nests, access.buffer) * ((bytes + kRegisterBytes - 1) / kRegisterBytes));
    }
  }
  int64_t most = 0;
  for (int32_t b = begin; b < end; ++b) {
    int64_t held = 0;
    for (const auto& [buffer, life] : lives)
      if (life.first <= b && b <= life.last) held += life.registers;
    most = std::max(most, held);
  }
  return most;
}

}  // namespace kiln
