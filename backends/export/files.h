// Writes files so that each appears complete or not at all, and replaces an older one.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace kiln {

struct NewFile {
  std::string path, content;
};

// Creates the folder, and writes all files under temporary names before it renames them. If a file cannot be written,
// none changes; if one cannot be renamed, those before it have changed. kFailedPrecondition with the path and the
// reason.
absl::Status WriteFiles(const std::string& folder, const std::vector<NewFile>& files);

}  // namespace kiln
