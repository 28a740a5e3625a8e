#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/placement.h"
#include "lang/threads/held_registers.h"
#include "validator/checks/check.h"

namespace kiln {
namespace {

constexpr int64_t kOwn = 16;              // registers for addresses, counters and what is computed
constexpr int64_t kStep = 8;              // threads get registers in steps
constexpr int64_t kStackBytes = 4 << 10;  // of a thread

std::optional<std::string> Refuses(const LoopNestSummary& nests, const Target& target) {
  const Program& p = nests.program();
  const Gpu& gpu = *target.gpu;
  for (Id nest = p.nodes[kRoot].first; nest != kNone; nest = p.nodes[nest].next) {
    const int64_t held = HeldRegisters(nests, nest);
    if (held == 0) continue;
    const int64_t threads = std::max<int64_t>(1, ThreadsOf(p, nest).Count());
    const int64_t most =
        std::min<int64_t>(gpu.registers_per_thread, gpu.registers_per_sm / threads / kStep * kStep);
    if (held + kOwn <= most) continue;
    return absl::StrCat("a thread of the kernel of ", Describe(p, nest), " holds ", held,
                        " registers and needs ", kOwn, " more; it has ", most, " of ", gpu.name);
  }
  int64_t bytes = 0;
  for (Id b = 0; b < static_cast<Id>(nests.buffers().size()); ++b)
    if (p.buffers[b].scope.storage == Storage::kStack) bytes += TemporaryBytes(nests, b);
  if (bytes <= kStackBytes) return std::nullopt;
  return absl::StrCat("buffers on the stack take ", bytes, " bytes; a thread may have ", kStackBytes);
}

}  // namespace

const Check kGpuRegistersCheck{"gpu-registers", Refuses, IsForGpus};

}  // namespace kiln
