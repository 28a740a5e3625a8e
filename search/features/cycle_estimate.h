// Estimates the cycles of a scheduled program, for a choice that no measurement follows.
//
// The columns roofline.* order what a search measures next, where a mistake costs one trial. Here the program that
// looks best is what the user gets. So the estimate counts accesses as lowering emits them
// (search/features/accesses_of_line.h). It knows how long a sum in memory stays at the same results, and that LLVM may
// not keep it in registers. Blocks of the prepare phase cost nothing. For a target with a GPU, the estimate is that of
// search/features/gpu_roofline.h.
//
//   CycleEstimate estimate(target);              // one per thread: it keeps its memory
//   double cycles = estimate.Cycles(nests);      // after nests.Read(program)
#pragma once

#include <optional>
#include <vector>

#include "search/features/footprint.h"
#include "search/features/gpu_roofline.h"
#include "search/features/roofline.h"

namespace kiln {

class CycleEstimate {
 public:
  explicit CycleEstimate(const Target& target);

  // Returns the cycles of the program that `nests` has read; 0 for a program without blocks.
  double Cycles(const LoopNestSummary& nests);

 private:
  RowWork WorkOf(const LoopNestSummary& nests, const NestBlock& block) const;

  const Target target_;
  Footprints footprints_;
  std::vector<float> row_;
  std::optional<GpuRoofline> gpu_;  // for GPUs, the estimate
};

}  // namespace kiln
