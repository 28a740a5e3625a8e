// Imports the file that a user gives and cuts it into tasks.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/model.h"
#include "backends/import/import.h"
#include "lang/graph/outline.h"
#include "lang/graph/simplify_model.h"

namespace kiln::api {

struct MemoryFile {  // an anonymous file, closed by the destructor
  int fd = -1;
  absl::string_view bytes{};  // its content, once it is mapped
  MemoryFile() = default;
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();
};

struct Input {
  Source source;
  std::string shown;                 // the name in messages and reports
  std::string path;                  // a path from which the text can be read again
  std::string digest;                // digest of text that came from standard input or a string, else empty
  std::shared_ptr<MemoryFile> file;  // holds the text that came from standard input or a string
  Imported file_content;    // what was imported, before boundaries are joined and a model is simplified
  Program program;          // the whole file; a model is simplified
  Program imported;         // the whole file as it was imported
  std::vector<Task> tasks;  // the tasks that `program` is cut into
  std::vector<std::string> inputs;  // ImportOptions::inputs
  std::vector<std::string> notes;   // hints for the user, one line each
  Policies policies;                // policies that the import and all later steps use
  bool layout_is_open = true;       // the user named the policy "channels-last" neither as on nor as off
  // The bytes of the large constants in the file of a model (ImportOptions::large_constants), by the names of their
  // buffers. These buffers are parameters of `program`.
  std::map<std::string, absl::string_view> embedded;
  std::shared_ptr<MemoryFile> embedded_file;  // holds the bytes of `embedded`
  ModelSimplifications simplified;            // how `program` differs from the file, if it is a model
  std::vector<ForeignCall> foreign;           // what each boundary reads and writes in `program`
  std::vector<ForeignCall> imported_foreign;  // what each boundary reads and writes in `imported`
};

// Loads the input. If the file is a model (several tasks, or one that occurs several times, at least one of them with a
// reduction), or `source.whole` is true, an operation that Kiln cannot express becomes a boundary: between the tasks
// there is a foreign call, and the buffers between it and the tasks are temporaries. In any other file it is an error.
// Large constants of a model become parameters (ImportOptions::large_constants). This function forks: call it before
// threads start. `without`: the policies that are switched off. An unknown name is a Mistake.
absl::StatusOr<Input> LoadInput(const Source& source, const std::string& without);

// Returns the input of the same file with the policy "channels-last". Returns nullopt if that changes nothing: the
// file is no model, no temporary has channels, or the policy is on already.
absl::StatusOr<std::optional<Input>> WithChannelsLast(const Input& input);

}  // namespace kiln::api
