// Errors of api/ beside their codes (absl::StatusCode). Messages are sentences for a person: what was wrong,
// where, what was found and what to do.
#pragma once

#include "absl/status/status.h"

namespace kiln::api {

// The same error as a mistake of the caller: a setting that is none, a space that does not parse, a task that
// the file does not have. `kiln` exits with 2 for such.
absl::Status Mistake(absl::Status status);
bool IsMistake(const absl::Status& status);

}  // namespace kiln::api
