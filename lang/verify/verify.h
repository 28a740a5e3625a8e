// Verifies a program (lang/program/program.h) for callers that want to know which block is wrong, such as the parser.
#pragma once

#include "absl/status/status.h"
#include "lang/program/program.h"

namespace kiln {

// Verifies the program. On an error, sets `broken` to the block that the error is about, or to kNone if it is about
// none.
absl::Status Verify(const Program& program, Id& broken);

}  // namespace kiln
