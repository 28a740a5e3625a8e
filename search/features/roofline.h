// Estimates the cycles of a row with a roofline. Inside the core, the slowest of arithmetic, loads, stores
// and instruction issue decides. The time to fetch bytes from beyond each cache partly overlaps with it.
// The roofline ignores the order of instructions and conflicts of addresses; the cost model learns their
// effect.
#pragma once

#include <limits>

#include "absl/types/span.h"
#include "lang/target/target.h"

namespace kiln {

// What an estimate may know beyond the columns of a row. The columns roofline.* assume these values.
struct RowDetails {
  double pieces = 1;  // memory accesses of one register of lanes: 7 lanes are read as 4, 2 and 1
  // Terms that a result in memory gets in a row, before the block goes on to another result.
  double run = std::numeric_limits<double>::infinity();
  double doubt = 1;  // factor on sums in memory, which LLVM may or may not keep in registers
};

struct RowCycles {
  double inside = 0, outside = 0;  // with all data in the first cache; to fetch bytes from beyond it
  double both = 0;
};

// All columns but roofline.* must be filled.
RowCycles CyclesOf(const Target& target, const float* row, const RowDetails& details = {});

// Fills the columns roofline.* of a row, except roofline.program. All other columns must be filled.
void FillRoofline(const Target& target, float* row);

// Fills roofline.program in all rows of a program.
void FillProgramCycles(absl::Span<float> rows);

}  // namespace kiln
