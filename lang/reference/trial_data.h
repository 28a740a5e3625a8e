// Finds input ranges for which a program is defined: no division of integers by zero (or of the smallest integer by
// -1), no shift beyond the width, gathers within bounds, and assertions that hold. Operands may be computed from the
// inputs.
//
//   const auto ranges = TrialRanges(program, [&](const TrialData& of) { return DrawSome(program, of); });
//
// Ranges propagate from the inputs through the blocks (lang/analysis/value_range.h). An operation under a
// select must be defined too: as in MLIR, both operands of a select are evaluated. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/analysis/value_range.h"
#include "lang/program/program.h"

namespace kiln {

// Returns the range from which trial data of a type are drawn without restrictions, such as -1 .. 1 for floats
// (backends/runner/data.h).
ValueRange UnrestrictedTrialData(DType type);

// For each parameter, the range in which its data must lie; nullopt if any data will do, and for outputs.
using TrialData = std::vector<std::optional<ValueRange>>;

// A function that draws data for each parameter that is not an output, within the given ranges, in the interpreter's
// format.
using DrawTrialData = std::function<std::vector<std::string>(const TrialData&)>;

// Returns ranges for which the program is proven to be defined. If none are found, but `draw` is given and the program
// is small, draws data and interprets the program up to 40 times, and returns the first ranges whose data were defined.
// Otherwise returns the ranges that leave the fewest operations in doubt. kFailedPrecondition, with the block and the
// operation, if these leave a division or shift that is undefined for all inputs.
absl::StatusOr<TrialData> TrialRanges(const Program& program, const DrawTrialData& draw = nullptr);

}  // namespace kiln
