#include <algorithm>

#include "absl/strings/str_cat.h"
#include "validator/checks/check.h"

namespace kiln {
namespace {

int64_t LanesAround(const LoopNestSummary& nests, const NestBlock& block) {
  for (const int32_t loop : nests.path(block)) {
    if (nests.loops()[loop].kind == LoopKind::kVectorized) return nests.loops()[loop].extent;
  }
  return 1;
}

int64_t Registers(int64_t lanes, int64_t bytes, const Target& target) {
  return std::max<int64_t>(1, (lanes * bytes + target.vector_bytes - 1) / target.vector_bytes);
}

// Refuses a block that needs more vector registers than the target has, for its buffers in registers and its operands.
// Accepts all programs for GPUs, whose threads have other limits.
std::optional<std::string> Refuses(const LoopNestSummary& nests, const Target& target) {
  if (target.gpu != nullptr) return std::nullopt;
  for (const NestBlock& block : nests.blocks()) {
    const int64_t lanes = LanesAround(nests, block);
    int64_t held = 0, rows = 0, element = 1, loaded = 0;
    absl::InlinedVector<Id, 4> counted;
    for (const NestAccess& access : nests.accesses(block)) {
      const Buffer& buffer = nests.program().buffers[access.buffer];
      if (access.writes) element = std::max(element, SizeOf(buffer.dtype));
      if (buffer.scope.storage != Storage::kRegister) {
        if (access.reads) loaded = std::max(loaded, SizeOf(buffer.dtype));
        continue;
      }
      if (std::find(counted.begin(), counted.end(), access.buffer) != counted.end()) continue;
      counted.push_back(access.buffer);
      const int64_t elements = nests.buffers()[access.buffer].elements;
      const int64_t here = std::max<int64_t>(1, elements / lanes);
      rows = std::max(rows, here);
      held += here * Registers(lanes, SizeOf(buffer.dtype), target);
    }
    if (held == 0) continue;
    // Counts the registers for operands: none if nothing is loaded, otherwise one more than a loaded row takes. If
    // several rows of the tile use the loaded row, it stays in registers, widened to the result's type; otherwise it
    // takes one.
    const int64_t row = rows > 1 ? Registers(lanes, std::max(element, loaded), target) : 1;
    const int64_t operands = loaded == 0 ? 0 : row + 1;
    if (held + operands > target.vector_registers) {
      return absl::StrCat(BlockText(nests, block), " needs ", held, " registers for what it holds and ",
                          operands, " for its operands; there are ", target.vector_registers);
    }
  }
  return std::nullopt;
}

}  // namespace

const Check kRegisterTileCheck{"register-tile", Refuses, IsForCpus};

}  // namespace kiln
