// At most one process runs a command on a database. A second one fails, and its error names the first.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace kiln::api {

// The lock is held until destruction, or until the process ends in any way. The file DATABASE.HASH.lock
// names the holder and is removed at the end.
class RunLock {
 public:
  // Takes the lock. Returns kUnavailable, with the process, its machine and its start time, if another
  // process holds it.
  static absl::StatusOr<std::unique_ptr<RunLock>> Take(const std::string& database,
                                                       const std::string& command);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  RunLock(std::string path, int file) : path_(std::move(path)), file_(file) {}
  std::string path_;
  int file_;
};

}  // namespace kiln::api
