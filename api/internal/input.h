// The file that a user gives: imported and cut into tasks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/model.h"
#include "backends/import/import.h"
#include "lang/graph/outline.h"

namespace kiln::api {

struct TextFile {  // closed at the end
  int fd = -1;
  TextFile() = default;
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile();
};

struct Input {
  Source source;
  std::string shown;               // the file, or what stands for it in messages and reports
  std::string path;                // to read the text again
  std::string digest;              // of what came from standard input or as text, else empty
  std::shared_ptr<TextFile> file;  // that holds such text
  std::vector<Task> tasks;
  std::vector<std::string> arguments;  // of the function, as the file calls them, by position
  std::vector<Boundary> boundaries;    // operations that are left out, and so are not tuned
};

// An operation that Kiln cannot say is a boundary in a model, which is a file that is still cut into several
// tasks, one of them with a reduction. For any other file it is the error. Forks: call it before threads are
// started.
absl::StatusOr<Input> LoadInput(const Source& source);

}  // namespace kiln::api
