// Verifies a program (lang/program/program.h) for callers that want to know which block is wrong, such as the parser.
#pragma once

#include "absl/status/status.h"
#include "lang/program/program.h"

namespace kiln {

// Verifies the program. kInternal with the first violation. Sets `broken` to the block if the check of a single block
// fails: of its bindings, its body, or the writers of what it reads. Sets it to kNone if there is no error, and for
// other errors, such as a call that does not match its intrinsic.
absl::Status Verify(const Program& program, Id& broken);

}  // namespace kiln
