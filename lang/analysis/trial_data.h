// Where a program is defined: which values its inputs may have, so that no division is by zero (or of the
// least number by -1) and no shift goes beyond the width, also where the operand is computed.
//
// Ranges of values flow from the inputs through the blocks (lang/value_range.h). An operation under a select
// counts too, as MLIR has it: both operands of a select are evaluated. Pure.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/program.h"
#include "lang/value_range.h"

namespace kiln {

// What trial data of a type are drawn from where nothing restricts them (backends/runner/data.h).
ValueRange UnrestrictedTrialData(DType type);

// For each parameter a range that its data must lie in, nullopt where any will do. A program without integer
// divisions and shifts restricts nothing, nor does one for which no ranges that were tried are proven to make
// it defined. kFailedPrecondition, with the block and the operation, where unrestricted data surely do not
// either.
absl::StatusOr<std::vector<std::optional<ValueRange>>> TrialRanges(const Program& program);

}  // namespace kiln
