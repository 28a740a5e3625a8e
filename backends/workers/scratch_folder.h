// A private folder for files that live as long as an object: made in the system's folder for temporary files,
// removed with all its content by the destructor. A process that is killed leaves its folder; the next one
// that makes a ScratchFolder removes those whose process is gone. Any thread.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace kiln {

class ScratchFolder {
 public:
  // kFailedPrecondition when it cannot be made.
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
