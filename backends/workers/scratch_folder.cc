#include "backends/workers/scratch_folder.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "kiln-scratch";

// True if the path's last part is kiln-scratch-PID-XXXXXX, for any X, and no process PID exists.
bool IsAbandoned(const fs::path& path) {
  const std::vector<std::string> parts = absl::StrSplit(path.filename().string(), '-');
  int pid = 0;
  return parts.size() == 4 && absl::StrCat(parts[0], "-", parts[1]) == kPrefix &&
         absl::SimpleAtoi(parts[2], &pid) && pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ScratchFolder>> ScratchFolder::Make() {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  if (error)
    return absl::FailedPreconditionError(absl::StrCat("no folder for temporary files: ", error.message()));
  std::vector<fs::path> abandoned;
  for (const auto& entry : fs::directory_iterator(base, error)) {
    if (IsAbandoned(entry.path())) abandoned.push_back(entry.path());
  }
  for (const fs::path& path : abandoned) fs::remove_all(path, error);
  std::string name = (base / absl::StrCat(kPrefix, "-", getpid(), "-XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr)
    return absl::FailedPreconditionError(absl::StrCat("cannot make ", name, ": ", std::strerror(errno)));
  return std::unique_ptr<ScratchFolder>(new ScratchFolder(std::move(name)));
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

}  // namespace kiln
