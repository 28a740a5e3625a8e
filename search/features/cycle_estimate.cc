#include "search/features/cycle_estimate.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "search/features/columns.h"
#include "search/features/row.h"

namespace kiln {
namespace {

// Returns the accesses to memory for each register that holds these lanes. What is left after full registers is
// accessed by powers of two.
double PiecesOf(int64_t lanes, int64_t lanes_of_register) {
  const int64_t full = lanes / lanes_of_register, rest = lanes % lanes_of_register;
  return static_cast<double>(full + std::popcount(static_cast<uint64_t>(rest))) /
         static_cast<double>(full + (rest != 0));
}

}  // namespace

CycleEstimate::CycleEstimate(const Target& target) : target_(target), row_(kFeatureDim) {}

RowDetails CycleEstimate::DetailsOf(const LoopNestSummary& nests, const NestBlock& block) const {
  RowDetails details{.run = 1, .doubt = target_.costs.kept_doubt};
  const auto accesses = nests.accesses(block);
  if (accesses.empty()) return details;
  const NestAccess& result = accesses.back();
  const auto bytes = static_cast<int64_t>(SizeOf(nests.program().buffers[result.buffer].dtype));
  const uint64_t indexed = nests.Indexed(result);
  const auto path = nests.path(block);
  bool same = true;  // all loops from this one inwards stay at the results of the straight line
  for (int d = block.depth; d-- > 0;) {
    const NestLoop& loop = nests.loops()[path[d]];
    const bool moves = (indexed & LoopNestSummary::Bit(d)) != 0;
    if (loop.extent == 1) continue;
    if (loop.kind == LoopKind::kVectorized) {
      details.pieces = PiecesOf(loop.extent, std::max<int64_t>(1, target_.vector_bytes / bytes));
      continue;
    }
    same &= !moves || loop.kind == LoopKind::kUnrolled;
    if (same && !moves) details.run *= static_cast<double>(loop.extent);
  }
  return details;
}

double CycleEstimate::Cycles(const LoopNestSummary& nests) {
  footprints_.Read(nests);
  double cycles = 0;
  for (size_t b = 0; b < nests.blocks().size(); ++b) {
    const NestBlock& block = nests.blocks()[b];
    if (!block.leaf || block.prepared) continue;
    std::fill(row_.begin(), row_.end(), 0.0f);
    FillRow(nests, footprints_, target_, static_cast<int>(b), row_.data());
    cycles += CyclesOf(target_, row_.data(), DetailsOf(nests, block)).both;
  }
  return cycles;
}

}  // namespace kiln
