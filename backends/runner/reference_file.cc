#include "backends/runner/reference_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

std::string CannotOpen(const std::string& path) {
  return absl::StrCat("cannot open ", path, ": ", std::strerror(errno));
}

}  // namespace

std::string CannotWrite(const std::string& path) {
  return absl::StrCat("cannot write ", path, ": ", std::strerror(errno),
                      "; check the disk and `ulimit -f`, and run the same command again");
}

std::string OpenToWrite(const std::string& path, int* file) {
  if (path.empty()) return "";
  *file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  return *file < 0 ? CannotOpen(path) : "";
}

std::string MapReference(const std::string& path, int64_t bytes, const char** at) {
  if (path.empty()) return "";
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info = {};
  if (file < 0 || fstat(file, &info) != 0) return CannotOpen(path);
  if (info.st_size != bytes)
    return absl::StrCat("the reference has ", info.st_size, " bytes, the outputs have ", bytes);
  *at = "";
  if (bytes > 0) {
    void* mapped = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) return CannotOpen(path);
    *at = static_cast<const char*>(mapped);
  }
  close(file);
  return "";
}

}  // namespace kiln
