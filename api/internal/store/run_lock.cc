#include "api/internal/store/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "lang/base/mixer.h"

namespace kiln::api {
namespace {

std::string PathOf(const std::string& database, const std::string& command) {
  Mixer mixer;
  for (const char c : command) mixer.Add(static_cast<unsigned char>(c));
  return absl::StrCat(database, ".", absl::Hex(mixer.Finish().high, absl::kZeroPad16), ".lock");
}

std::string Holder() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return absl::StrCat("process ", getpid(), " on ", host, " since ",
                      absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::Now(), absl::LocalTimeZone()));
}

std::string ReadHolder(int file) {
  char text[512];
  const ssize_t size = pread(file, text, sizeof text, 0);
  return size > 0 ? std::string(text, static_cast<size_t>(size)) : "another process";
}

// Returns true if the path still names the open file. The last holder of the lock may have removed the file since it
// was opened.
bool Names(const std::string& path, int file) {
  struct stat named, open;
  return stat(path.c_str(), &named) == 0 && fstat(file, &open) == 0 && named.st_ino == open.st_ino &&
         named.st_dev == open.st_dev;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunLock>> RunLock::Take(const std::string& database,
                                                       const std::string& command) {
  const std::string path = PathOf(database, command);
  while (true) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0)
      return absl::UnavailableError(absl::StrCat("cannot make ", path, ": ", std::strerror(errno)));
    std::unique_ptr<RunLock> lock(new RunLock(path, file));
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
      const std::string holder = ReadHolder(file);
      lock->path_.clear();
      return absl::UnavailableError(absl::StrCat("this command runs already: ", holder,
                                                 "; wait for it or end it, or choose another "
                                                 "--seed or --db"));
    }
    if (!Names(path, file)) {
      lock->path_.clear();
      continue;
    }
    const std::string holder = Holder();
    const bool written = ftruncate(file, 0) == 0 && pwrite(file, holder.data(), holder.size(), 0) >= 0;
    (void)written;  // without the text, the lock still holds
    return lock;
  }
}

RunLock::~RunLock() {
  if (!path_.empty()) unlink(path_.c_str());
  close(file_);
}

}  // namespace kiln::api
