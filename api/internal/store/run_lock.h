// Lets at most one process at a time run the same command on a database. A second one fails, and its error names the
// first.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace kiln::api {

// A lock for one command on one database. It is held until destruction, or until the process ends in any way. The file
// DATABASE.HASH.lock names the holder. The destructor removes the file. A file that a killed process leaves behind is
// not locked.
class RunLock {
 public:
  // Takes the lock, without waiting. Returns kUnavailable if the lock is taken (with the process that holds it, its
  // machine, and when it took the lock), or if the file cannot be made.
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
