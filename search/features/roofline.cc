#include "search/features/roofline.h"

#include <algorithm>
#include <cmath>

#include "search/features/columns.h"

namespace kiln {
namespace {

// Of a core of the last ten years, in vector instructions or bytes a cycle.
constexpr double kArithmeticPorts = 2, kLoadPorts = 2, kStorePorts = 1;
// From one step of a sum to the next: four cycles and one that a load is late, or through memory.
constexpr double kLatency = 5, kLatencyInMemory = 12;
constexpr double kDivide = 8, kSpecial = 12;  // cycles of a vector's worth
constexpr double kIteration = 2;              // cycles of a loop that runs
constexpr double kBytesFromL2 = 16, kBytesFromL3 = 6, kBytesFromMemory = 3;

}  // namespace

void FillRoofline(const Target& target, float* row) {
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
  const double heavy =
      kDivide * (Exp(row[kFloatDiv]) + Exp(row[kIntDiv])) + kSpecial * Exp(row[kFloatSpecial]);
  double arithmetic = vectors * ((simple + fma) / kArithmeticPorts + heavy);
  const double straight = std::max(1.0, Exp(row[kStraightLine]));
  if (row[kStoreReduces] != 0 && row[kResultStands] != 0) {
    const double chains = std::max(1.0, Exp(row[kAccumulators]));
    const bool stays = row[kStoreRegister] != 0 && row[kRegisterNeed] <= 1;
    arithmetic = std::max(arithmetic, steps * (stays ? kLatency : kLatencyInMemory) / chains);
  }
  const double loads = steps * row[kLoadsPerOperation] / kLoadPorts;
  const double stores = steps * row[kStoresPerOperation] / kStorePorts;
  const double spills = steps * std::clamp(row[kRegisterNeed] - 1.0, 0.0, 1.0);
  const double iterations = kIteration * steps / straight;
  const double inside = std::max({arithmetic, loads, stores}) + spills + iterations;
  const double outside = Exp(row[kTrafficL1]) / kBytesFromL2 + Exp(row[kTrafficL2]) / kBytesFromL3 +
                         Exp(row[kTrafficL3]) / kBytesFromMemory;
  const double parallel = std::max(1.0, Exp(row[kParallelProduct]));
  const double cores = std::min<double>(parallel, std::max(1, target.cores));
  const double busiest = std::max(1.0f, row[kParallelImbalance]) / cores;
  row[kRooflineInside] = Log(inside * busiest);
  row[kRooflineOutside] = Log(outside * busiest);
  row[kRooflineCycles] = Log((inside + outside) * busiest);
}

void FillProgramCycles(absl::Span<float> rows) {
  double cycles = 0;
  for (size_t r = 0; r < rows.size(); r += kFeatureDim) cycles += Exp(rows[r + kRooflineCycles]);
  for (size_t r = 0; r < rows.size(); r += kFeatureDim) rows[r + kRooflineProgram] = Log(cycles);
}

}  // namespace kiln
