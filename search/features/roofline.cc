#include "search/features/roofline.h"

#include <algorithm>
#include <cmath>

#include "search/features/columns.h"

namespace kiln {

RowCycles CyclesOf(const Target& target, const float* row, const RowDetails& details) {
  const CostTable& costs = target.costs;
  const double instances = std::max(1.0, Exp(row[kInstances])), lanes = std::max(1.0, Exp(row[kLanes]));
  const double registers = std::max(1.0, Exp(row[kLaneRegisters]));
  const bool masked_lanes = row[kMaskedLanes] != 0;
  const double vectors = masked_lanes ? 1 : registers / lanes;  // instructions per instance
  const double steps = instances * vectors;

  double simple = 0;
  for (const Column c : {kFloatAdd, kFloatMul, kFloatCompare, kFloatOther, kIntAdd, kIntMul, kIntCompare,
                         kIntOther, kSelects, kCasts, kWithins})
    simple += Exp(row[c]);
  const double fma = Exp(row[kFloatFma]);
  const double heavy = costs.divide_cycles * (Exp(row[kFloatDiv]) + Exp(row[kIntDiv])) +
                       costs.function_cycles * Exp(row[kFloatSpecial]);
  double arithmetic = vectors * ((simple + fma) / costs.arithmetic_ports + heavy);
  const double straight = std::max(1.0, Exp(row[kStraightLine]));
  const bool sums = row[kStoreReduces] != 0 && row[kResultStands] != 0, fits = row[kRegisterNeed] <= 1;
  const bool kept = sums && fits && row[kStoreRegister] == 0;
  if (sums) {
    const double chains = std::max(1.0, Exp(row[kAccumulators]));
    const double latency = kept   ? costs.sum_latency_kept + costs.sum_latency_in_memory / details.run
                           : fits ? costs.sum_latency
                                  : costs.sum_latency_in_memory;
    arithmetic = std::max(arithmetic, steps * latency / chains);
  }
  const double vector_loads = Exp(row[kVectorLoads]),
               all_loads = vector_loads + Exp(row[kBroadcasts]) + Exp(row[kGathers]);
  double loads = steps * row[kLoadsPerOperation], stores = steps * row[kStoresPerOperation];
  if (all_loads > 0) loads *= 1 + vector_loads / all_loads * (details.pieces - 1);
  stores *= details.pieces;
  if (kept) {
    const double share = std::max(costs.kept_accesses, 1 / details.run);
    loads -= (1 - share) * std::min(loads, steps), stores *= share;
  }
  const double issued =
      vectors * (simple + fma) + loads + stores + costs.loop_instructions * steps / straight;
  const double spills = costs.spill_instructions * steps * std::clamp(row[kRegisterNeed] - 1.0, 0.0, 1.0);
  const double bound = std::max(
      {arithmetic, loads / costs.load_ports, stores / costs.store_ports, issued / costs.issue_width});
  const double inside = (bound + spills) * (kept ? details.doubt : 1);
  const double streamed[] = {costs.streamed_beyond_l1, costs.streamed_beyond_l2, costs.streamed_beyond_l3};
  const double alone[] = {costs.scattered_beyond_l1, costs.scattered_beyond_l2, costs.scattered_beyond_l3};
  double outside = 0;
  for (int c = 0; c < 3; ++c) {
    const double all = Exp(row[kTrafficL1 + c]), scattered = Exp(row[kScatteredL1 + c]);
    outside += std::max(0.0, all - scattered) / streamed[c] + scattered / alone[c];
  }
  const double cycles = std::max(inside, outside) + (1 - costs.overlap) * std::min(inside, outside);
  const double parallel = std::max(1.0, Exp(row[kParallelProduct]));
  const double cores = std::min<double>(parallel, std::max(1, target.cores));
  const double busiest = std::max(1.0f, row[kParallelImbalance]) / cores;
  return {inside * busiest, outside * busiest, cycles * busiest};
}

void FillRoofline(const Target& target, float* row) {
  const RowCycles cycles = CyclesOf(target, row);
  row[kRooflineInside] = Log(cycles.inside);
  row[kRooflineOutside] = Log(cycles.outside);
  row[kRooflineCycles] = Log(cycles.both);
}

void FillProgramCycles(absl::Span<float> rows) {
  double cycles = 0;
  for (size_t r = 0; r < rows.size(); r += kFeatureDim) cycles += Exp(rows[r + kRooflineCycles]);
  for (size_t r = 0; r < rows.size(); r += kFeatureDim) rows[r + kRooflineProgram] = Log(cycles);
}

}  // namespace kiln
