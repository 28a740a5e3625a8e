// Estimates the cycles of a block from its row of features, with a roofline. Inside the core, the slowest of
// arithmetic, loads, stores and instruction issue decides. The time to fetch bytes from beyond each cache partly
// overlaps with it. If loops are parallel, the cycles are those of the core with most iterations. The roofline ignores
// the order of instructions and conflicts of addresses; the cost model learns their effect.
//
// All functions except FillProgramCycles read only the columns other than roofline.*. Fill those columns before.
#pragma once

#include "absl/types/span.h"
#include "lang/target/target.h"

namespace kiln {

// The instances of a block as steps. A step computes one vector register of lanes, or a single instance if a guard
// depends on the lanes.
struct RowSteps {
  double vectors = 1;  // steps for each instance
  double count = 1;    // steps of all instances
  bool sums = false;   // several steps add to one result
  bool kept = false;   // these results are in memory, but may stay in registers meanwhile
};
RowSteps StepsOf(const float* row);

// What all steps of a block do besides arithmetic.
struct RowWork {
  double loads = 0, stores = 0, shuffles = 0;  // instructions
  double latency = 0;                          // cycles from one step of a sum to the next
  double factor = 1;                           // on the time inside the core
};
// Computes the loads, the stores and the latency of sums of a block from the columns of its row.
RowWork WorkOf(const Target& target, const float* row);

struct RowCycles {
  double inside = 0, outside = 0;  // with all data in the first cache; to fetch bytes from beyond it
  double both = 0;
};
RowCycles CyclesOf(const Target& target, const float* row, const RowWork& work);

// Estimates the cycles of a row and writes them to its columns roofline.*, except roofline.program.
void FillRoofline(const Target& target, float* row);

// Adds up the columns roofline.cycles of all rows of a program, and writes the sum to the column roofline.program of
// each row.
void FillProgramCycles(absl::Span<float> rows);

}  // namespace kiln
