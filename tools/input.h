// The file that a user gives: imported and cut into tasks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/import/import.h"
#include "lang/outline.h"

namespace kiln::tools {

struct Input {
  std::vector<Task> tasks;
  std::vector<Boundary> boundaries;  // operations that are left out, and so are not tuned
};

// An operation that Kiln cannot say is a boundary in a model, which is a file that is still cut into several
// tasks, one of them with a reduction. For any other file it is the error. Forks: call it before threads are
// started.
absl::StatusOr<Input> LoadInput(const std::string& path);

}  // namespace kiln::tools
