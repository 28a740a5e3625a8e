// At most one process runs a command on a database. A second one fails, and its error names the first.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace kiln::api {

// Held until destruction or the end of the process, however that comes. The file DATABASE.HASH.lock says who
// holds it, and is removed at the end.
class RunLock {
 public:
  // kUnavailable, with the process, its machine and since when: another process holds it.
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
