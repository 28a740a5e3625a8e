// A private folder for temporary files in the system's folder for them. The destructor removes it with all
// its content. A process that is killed leaves its folder behind; the next process that creates a
// ScratchFolder removes folders whose process is gone. Any thread.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace kiln {

class ScratchFolder {
 public:
  // Creates a folder. kFailedPrecondition if that fails.
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
