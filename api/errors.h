// Tells errors that are mistakes of the caller from other errors, beside their codes (absl::StatusCode). A message is a
// sentence for people. It tells what is wrong, where, what Kiln found and what the user can do.
#pragma once

#include "absl/status/status.h"

namespace kiln::api {

// Marks an error as a mistake of the caller: an invalid setting, a space that does not parse, a task that the file does
// not have. `kiln` exits with 2 for such errors. OK stays OK.
absl::Status Mistake(absl::Status status);
bool IsMistake(const absl::Status& status);

}  // namespace kiln::api
