#include "backends/export/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "backends/workers/write_all.h"

namespace kiln {
namespace {

absl::Status CannotWrite(const std::string& path, int error) {
  return absl::FailedPreconditionError(absl::StrCat("cannot write ", path, ": ", std::strerror(error)));
}

std::string TemporaryOf(const NewFile& file) { return absl::StrCat(file.path, ".", getpid(), ".new"); }

absl::Status WriteTemporary(const NewFile& file) {
  const int fd = open(TemporaryOf(file).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return CannotWrite(file.path, errno);
  const bool written = WriteAll(fd, file.content) && fsync(fd) == 0;
  const int error = errno;
  close(fd);
  return written ? absl::OkStatus() : CannotWrite(file.path, error);
}

}  // namespace

absl::Status WriteFiles(const std::string& folder, const std::vector<NewFile>& files) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return CannotWrite(folder, error.value());
  absl::Status status = absl::OkStatus();
  for (const NewFile& file : files) {
    if (status.ok()) status = WriteTemporary(file);
  }
  for (const NewFile& file : files) {
    if (status.ok() && rename(TemporaryOf(file).c_str(), file.path.c_str()) != 0)
      status = CannotWrite(file.path, errno);
  }
  for (const NewFile& file : files) {
    if (!status.ok()) unlink(TemporaryOf(file).c_str());
  }
  return status;
}

}  // namespace kiln
