// The file that a user gives: imported and cut into tasks.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "backends/import/import.h"
#include "lang/graph/outline.h"

namespace kiln::tools {

// What to import: FILE, where - is standard input, and --function.
struct InputOption {
  std::string file, function;
};
void AddInput(CLI::App& command, InputOption* option);

struct Input {
  std::string path;    // to read the text again
  std::string digest;  // of what came from standard input, else empty
  std::vector<Task> tasks;
  std::vector<Boundary> boundaries;  // operations that are left out, and so are not tuned
};

// An operation that Kiln cannot say is a boundary in a model, which is a file that is still cut into several
// tasks, one of them with a reduction. For any other file it is the error. Forks: call it before threads are
// started.
absl::StatusOr<Input> LoadInput(const InputOption& option);

}  // namespace kiln::tools
