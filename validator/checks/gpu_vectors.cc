#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "validator/checks/check.h"

namespace kiln {
namespace {

// Refuses a vectorized loop if a block has accesses that step by one element along it, and all of these are wider than
// what a thread can move at once (Target::vector_bytes).
std::optional<std::string> Refuses(const LoopNestSummary& nests, const Target& target) {
  for (const NestBlock& block : nests.blocks()) {
    if (!block.leaf) continue;
    for (int d = 0; d < block.depth; ++d) {
      const int32_t l = nests.path(block)[d];
      const NestLoop& loop = nests.loops()[l];
      if (loop.kind != LoopKind::kVectorized || loop.extent == 1) continue;
      int64_t narrowest = 0;
      for (const NestAccess& access : nests.accesses(block)) {
        if (std::abs(nests.Stride(access, d)) != 1) continue;
        const int64_t bytes = loop.extent * SizeOf(nests.program().buffers[access.buffer].dtype);
        narrowest = narrowest == 0 ? bytes : std::min(narrowest, bytes);
      }
      if (narrowest <= target.vector_bytes) continue;
      return absl::StrCat(LoopText(nests, l), " makes vectors of ", narrowest, " bytes in ",
                          BlockText(nests, block), "; a thread moves ", target.vector_bytes, " at once");
    }
  }
  return std::nullopt;
}

}  // namespace

const Check kGpuVectorsCheck{"gpu-vectors", Refuses, IsForGpus};

}  // namespace kiln
