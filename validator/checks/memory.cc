#include <algorithm>

#include "absl/strings/str_cat.h"
#include "validator/checks/check.h"

namespace kiln {
namespace {

constexpr int64_t kStackBytes = int64_t{256} << 10;
constexpr int64_t kMemoryBytes = int64_t{1} << 30;

std::optional<std::string> RefusesStack(const LoopNestSummary& nests, const Target& /*target*/) {
  int64_t bytes = 0;
  for (Id b = 0; b < static_cast<Id>(nests.buffers().size()); ++b) {
    const Storage storage = nests.program().buffers[b].scope.storage;
    if (storage == Storage::kStack || storage == Storage::kRegister) bytes += TemporaryBytes(nests, b);
  }
  if (bytes <= kStackBytes) return std::nullopt;
  return absl::StrCat("buffers on the stack and in registers take ", bytes, " bytes; ", kStackBytes,
                      " are allowed");
}

std::optional<std::string> RefusesMemory(const LoopNestSummary& nests, const Target& target) {
  int64_t bytes = 0;
  for (Id b = 0; b < static_cast<Id>(nests.buffers().size()); ++b) {
    int64_t copies = 1;
    for (int32_t loop = nests.buffers()[b].home_loop; loop >= 0; loop = nests.loops()[loop].parent) {
      if (nests.loops()[loop].kind == LoopKind::kParallel) copies = std::max(1, target.cores);
    }
    bytes += TemporaryBytes(nests, b) * copies;
  }
  if (bytes <= kMemoryBytes) return std::nullopt;
  return absl::StrCat("temporaries take ", bytes, " bytes; ", kMemoryBytes, " are allowed");
}

}  // namespace

const Check kStackCheck{"stack", RefusesStack, IsForCpus};
const Check kMemoryCheck{"memory", RefusesMemory};

}  // namespace kiln
