#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "lang/analysis/cost.h"
#include "validator/checks/check.h"

namespace kiln {
namespace {

// Returns how many store instructions one unrolled copy of a block needs for all its vector lanes: vector stores, or
// one store per lane if the lanes are not adjacent in memory.
int64_t Stores(const LoopNestSummary& nests, const NestAccess& result, int vectorized, int64_t lanes,
               const Target& target) {
  if (vectorized >= 0 && std::abs(nests.Stride(result, vectorized)) > 1) return lanes;
  const int64_t bytes = lanes * SizeOf(nests.program().buffers[result.buffer].dtype);
  return std::max<int64_t>(1, (bytes + target.vector_bytes - 1) / target.vector_bytes);
}

// Refuses unrolled code of too many instructions. The limit is max_unrolled, or the instructions of the bodies without
// unrolling if these are more. Blocks come in program order, so blocks below one loop are neighbours.
std::optional<std::string> Refuses(const LoopNestSummary& nests, const Target& target) {
  int32_t top = -1;
  int64_t written = 0, once = 0;  // instructions below `top`: unrolled, and with each block counted once
  for (const NestBlock& block : nests.blocks()) {
    if (!block.leaf || block.accesses.count == 0) continue;
    int64_t copies = 1, lanes = 1;
    int32_t first = -1;
    int depth = -1, vectorized = -1;
    for (const int32_t l : nests.path(block)) {
      const NestLoop& loop = nests.loops()[l];
      ++depth;
      if (loop.extent == 1 || (loop.kind != LoopKind::kUnrolled && loop.kind != LoopKind::kVectorized))
        continue;
      if (first < 0) first = l;
      if (loop.kind == LoopKind::kVectorized) vectorized = depth;
      (loop.kind == LoopKind::kVectorized ? lanes : copies) *= loop.extent;
      if (copies > target.max_unrolled) break;
    }
    if (first < 0) continue;
    if (first != top) written = once = 0;
    top = first;
    const int64_t body = Instructions(nests.program(), block.node, nests.exprs(block), target.costs);
    once += body;
    written += copies * Stores(nests, nests.accesses(block).back(), vectorized, lanes, target) * body;
    const int64_t most = std::max(target.max_unrolled, once);
    if (written > most) {
      return absl::StrCat(LoopText(nests, top), " writes out ", written, " instructions or more; ", most,
                          " are allowed");
    }
  }
  return std::nullopt;
}

}  // namespace

const Check kUnrolledCheck{"unrolled", Refuses};

}  // namespace kiln
