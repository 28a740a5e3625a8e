// Verify (lang/program/program.h) for callers that know where blocks came from.
#pragma once

#include "absl/status/status.h"
#include "lang/program/program.h"

namespace kiln {

// Verifies the program. Sets `broken` to the block that the error is about, or to kNone.
absl::Status Verify(const Program& program, Id& broken);

}  // namespace kiln
