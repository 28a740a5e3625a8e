// Creates a private folder for temporary files in the system's folder for such files. The destructor removes it with
// all its content. A process that is killed leaves its folder behind; the next process that creates a ScratchFolder
// removes folders whose process is gone. Any thread.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace kiln {

class ScratchFolder {
 public:
  // Creates an empty private folder, and removes those of processes that are gone. kFailedPrecondition if there is no
  // place for temporary files, or the folder cannot be created.
  static absl::StatusOr<std::unique_ptr<ScratchFolder>> Make();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

}  // namespace kiln
