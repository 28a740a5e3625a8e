#include "search/features/roofline.h"

#include <algorithm>
#include <cmath>

#include "search/features/columns.h"

namespace kiln {
namespace {

// A core of the last ten years: vector instructions or cache accesses a cycle.
constexpr double kArithmeticPorts = 2, kLoadPorts = 3, kStorePorts = 1, kIssued = 3;
// Cycles between two steps of a sum whose accumulator is in a register by the schedule; in memory but kept
// in a register by LLVM; and in memory. The first is four cycles of latency and an occasional late load.
constexpr double kLatency = 4.5, kLatencyKept = 7, kLatencyInMemory = 20;
// Share of such a sum's loads and stores that LLVM leaves in memory.
constexpr double kNotKept = 0.3;
constexpr double kDivide = 8, kSpecial = 12;  // cycles for a vector of divisions or library functions
constexpr double kIteration = 2;              // instructions for one iteration of a loop that is not unrolled
// Bytes a cycle from beyond each cache: for streams, which the hardware prefetches, and for scattered lines.
constexpr double kStreamed[] = {128, 20, 12}, kScattered[] = {24, 16, 7};
constexpr double kOverlap = 0.35;  // share of the shorter of computing and fetching that overlaps the other
constexpr double kSpill = 1.5;

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
  const bool sums = row[kStoreReduces] != 0 && row[kResultStands] != 0, fits = row[kRegisterNeed] <= 1;
  const bool kept = sums && fits && row[kStoreRegister] == 0;
  if (sums) {
    const double chains = std::max(1.0, Exp(row[kAccumulators]));
    const double latency = kept ? kLatencyKept : fits ? kLatency : kLatencyInMemory;
    arithmetic = std::max(arithmetic, steps * latency / chains);
  }
  double loads = steps * row[kLoadsPerOperation], stores = steps * row[kStoresPerOperation];
  if (kept) loads -= (1 - kNotKept) * std::min(loads, steps), stores *= kNotKept;
  const double issued = vectors * (simple + fma) + loads + stores + kIteration * steps / straight;
  const double spills = kSpill * steps * std::clamp(row[kRegisterNeed] - 1.0, 0.0, 1.0);
  const double inside =
      std::max({arithmetic, loads / kLoadPorts, stores / kStorePorts, issued / kIssued}) + spills;
  double outside = 0;
  for (int c = 0; c < 3; ++c) {
    const double all = Exp(row[kTrafficL1 + c]), scattered = Exp(row[kScatteredL1 + c]);
    outside += std::max(0.0, all - scattered) / kStreamed[c] + scattered / kScattered[c];
  }
  const double cycles = std::max(inside, outside) + (1 - kOverlap) * std::min(inside, outside);
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
