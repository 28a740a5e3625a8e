#include "search/features/roofline.h"

#include <algorithm>
#include <cmath>

#include "search/features/columns.h"

namespace kiln {
namespace {

bool Fits(const float* row) { return row[kRegisterNeed] <= 1; }

double CyclesBeyondCaches(const CostTable& costs, const float* row) {
  const double streamed[] = {costs.streamed_beyond_l1, costs.streamed_beyond_l2, costs.streamed_beyond_l3};
  const double alone[] = {costs.scattered_beyond_l1, costs.scattered_beyond_l2, costs.scattered_beyond_l3};
  double cycles = 0;
  for (int c = 0; c < 3; ++c) {
    const double all = Exp(row[kTrafficL1 + c]), scattered = Exp(row[kScatteredL1 + c]);
    cycles += std::max(0.0, all - scattered) / streamed[c] + scattered / alone[c];
  }
  return cycles;
}

}  // namespace

RowSteps StepsOf(const float* row) {
  const double instances = std::max(1.0, Exp(row[kInstances])), lanes = std::max(1.0, Exp(row[kLanes]));
  const double registers = std::max(1.0, Exp(row[kLaneRegisters]));
  RowSteps steps;
  steps.vectors = row[kMaskedLanes] != 0 ? 1 : registers / lanes;
  steps.count = instances * steps.vectors;
  steps.sums = row[kStoreReduces] != 0 && row[kResultStands] != 0;
  steps.kept = steps.sums && Fits(row) && row[kStoreRegister] == 0;
  return steps;
}

RowWork WorkOf(const Target& target, const float* row) {
  const CostTable& costs = target.costs;
  const RowSteps steps = StepsOf(row);
  RowWork work{steps.count * row[kLoadsPerOperation], steps.count * row[kStoresPerOperation]};
  if (steps.sums) {
    work.latency = steps.kept  ? costs.sum_latency_kept
                   : Fits(row) ? costs.sum_latency
                               : costs.sum_latency_in_memory;
  }
  if (steps.kept) {
    work.loads -= (1 - costs.kept_accesses) * std::min(work.loads, steps.count);
    work.stores *= costs.kept_accesses;
  }
  return work;
}

RowCycles CyclesOf(const Target& target, const float* row, const RowWork& work) {
  const CostTable& costs = target.costs;
  const auto [vectors, steps, sums, kept] = StepsOf(row);
  double simple = 0;
  for (const Column c : {kFloatAdd, kFloatMul, kFloatCompare, kFloatOther, kIntAdd, kIntMul, kIntCompare,
                         kIntOther, kSelects, kCasts, kWithins})
    simple += Exp(row[c]);
  const double fma = Exp(row[kFloatFma]);
  const double heavy = costs.divide_cycles * (Exp(row[kFloatDiv]) + Exp(row[kIntDiv])) +
                       costs.function_cycles * Exp(row[kFloatSpecial]);
  double arithmetic =
      vectors * ((simple + fma) / costs.arithmetic_ports + heavy) + work.shuffles / costs.arithmetic_ports;
  const double straight = std::max(1.0, Exp(row[kStraightLine]));
  if (sums) arithmetic = std::max(arithmetic, steps * work.latency / std::max(1.0, Exp(row[kAccumulators])));
  const double issued = vectors * (simple + fma) + work.loads + work.stores +
                        costs.loop_instructions * steps / straight + work.shuffles;
  const double spills = costs.spill_instructions * steps * std::clamp(row[kRegisterNeed] - 1.0, 0.0, 1.0);
  const double inside = (std::max({arithmetic, work.loads / costs.load_ports, work.stores / costs.store_ports,
                                   issued / costs.issue_width}) +
                         spills) *
                        work.factor;
  const double outside = CyclesBeyondCaches(costs, row);
  const double cycles = std::max(inside, outside) + (1 - costs.overlap) * std::min(inside, outside);
  const double parallel = std::max(1.0, Exp(row[kParallelProduct]));
  const double cores = std::min<double>(parallel, std::max(1, target.cores));
  const double busiest = std::max(1.0f, row[kParallelImbalance]) / cores;
  return {inside * busiest, outside * busiest, cycles * busiest};
}

void FillRoofline(const Target& target, float* row) {
  const RowCycles cycles = CyclesOf(target, row, WorkOf(target, row));
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
