#include "search/features/cycle_estimate.h"

#include <algorithm>

#include "search/features/accesses_of_line.h"
#include "search/features/columns.h"
#include "search/features/operations.h"
#include "search/features/row.h"

namespace kiln {

CycleEstimate::CycleEstimate(const Target& target) : target_(target), row_(kFeatureDim) {
  if (target.gpu != nullptr) gpu_.emplace(*target.gpu);
}

RowWork CycleEstimate::WorkOf(const LoopNestSummary& nests, const NestBlock& block) const {
  const CostTable& costs = target_.costs;
  RowWork work = kiln::WorkOf(target_, row_.data());
  const RowSteps steps = StepsOf(row_.data());
  const LineAccesses line = AccessesOfLine(nests, block, target_.vector_bytes);
  if (steps.kept) {
    work.latency += costs.sum_latency_in_memory / line.run;
    work.factor = costs.kept_doubt;
  }
  const bool called = FindCallAround(nests.program(), block.node).family != nullptr;
  if (called || row_[kMaskedLanes] != 0) return work;
  const double lines = std::max(1.0, Exp(row_[kInstances])) / line.instances;
  const double stays = steps.kept ? std::max(costs.kept_accesses, 1 / line.run) : 1;
  work.loads = lines * (line.loads + stays * line.result_loads);
  work.stores = lines * (line.stores + stays * line.result_stores);
  work.shuffles = lines * line.shuffles;
  return work;
}

double CycleEstimate::Cycles(const LoopNestSummary& nests) {
  if (gpu_.has_value()) return gpu_->Cycles(nests);
  footprints_.Read(nests);
  double cycles = 0;
  for (size_t b = 0; b < nests.blocks().size(); ++b) {
    const NestBlock& block = nests.blocks()[b];
    if (!block.leaf || block.prepared) continue;
    std::fill(row_.begin(), row_.end(), 0.0f);
    FillRow(nests, footprints_, target_, static_cast<int>(b), row_.data());
    cycles += CyclesOf(target_, row_.data(), WorkOf(nests, block)).both;
  }
  return cycles;
}

}  // namespace kiln
