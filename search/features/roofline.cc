#include "search/features/roofline.h"

#include <algorithm>
#include <cmath>

#include "search/features/columns.h"

namespace kiln {
void FillRoofline(const Target& target, float* row) {
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
    const double latency = kept   ? costs.sum_latency_kept
                           : fits ? costs.sum_latency
                                  : costs.sum_latency_in_memory;
    arithmetic = std::max(arithmetic, steps * latency / chains);
  }
  double loads = steps * row[kLoadsPerOperation], stores = steps * row[kStoresPerOperation];
  if (kept) loads -= (1 - costs.kept_accesses) * std::min(loads, steps), stores *= costs.kept_accesses;
  const double issued =
      vectors * (simple + fma) + loads + stores + costs.loop_instructions * steps / straight;
  const double spills = costs.spill_instructions * steps * std::clamp(row[kRegisterNeed] - 1.0, 0.0, 1.0);
  const double inside = std::max({arithmetic, loads / costs.load_ports, stores / costs.store_ports,
                                  issued / costs.issue_width}) +
                        spills;
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
  row[kRooflineInside] = Log(inside * busiest);
  row[kRooflineOutside] = Log(outside * busiest);
  row[kRooflineCycles] = Log(cycles * busiest);
}

void FillProgramCycles(absl::Span<float> rows) {
  double cycles = 0;
  for (size_t r = 0; r < rows.size(); r += kFeatureDim) cycles += Exp(rows[r + kRooflineCycles]);
  for (size_t r = 0; r < rows.size(); r += kFeatureDim) rows[r + kRooflineProgram] = Log(cycles);
}

}  // namespace kiln
