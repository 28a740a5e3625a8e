// Verify (lang/program/program.h) for those who know where blocks came from.
#pragma once

#include "absl/status/status.h"
#include "lang/program/program.h"

namespace kiln {

// `broken` is the block that an error is about, or kNone.
absl::Status Verify(const Program& program, Id& broken);

}  // namespace kiln
