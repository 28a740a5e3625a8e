// Where a program is defined: which values its inputs may have, so that no division is by zero (or of the
// least number by -1), no shift goes beyond the width, gathers stay within bounds and assertions hold, also
// where the operand is computed.
//
//   const auto ranges = TrialRanges(program, [&](const TrialData& of) { return DrawSome(program, of); });
//
// Ranges of values flow from the inputs through the blocks (lang/analysis/value_range.h). An operation under a select
// counts too, as MLIR has it: both operands of a select are evaluated. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/analysis/value_range.h"
#include "lang/program/program.h"

namespace kiln {

// What trial data of a type are drawn from where nothing restricts them (backends/runner/data.h).
ValueRange UnrestrictedTrialData(DType type);

// For each parameter a range that its data must lie in, nullopt where any will do.
using TrialData = std::vector<std::optional<ValueRange>>;

// Data in these ranges for each parameter that is no output, as the interpreter takes them.
using DrawTrialData = std::function<std::vector<std::string>(const TrialData&)>;

// Ranges that are proven to make the program defined. Where none are found and the program is small, data are
// drawn and interpreted until some are defined, a few times: ranges that give the same data then are what is
// wanted. Where that fails too, or without `draw`, what is in doubt restricts nothing. kFailedPrecondition,
// with the block and the operation, where a division or shift is surely undefined.
absl::StatusOr<TrialData> TrialRanges(const Program& program, const DrawTrialData& draw = nullptr);

}  // namespace kiln
