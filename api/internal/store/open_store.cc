#include "api/internal/store/open_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "search/database/sqlite_store.h"

namespace kiln::api {

bool MayChange(const std::string& database) {
  const std::filesystem::path folder = std::filesystem::absolute(database).parent_path();
  const auto writable = [](const std::string& path) {
    return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
  };
  return writable(database) && writable(folder);
}

namespace {

// Opens a copy of the database and of its write-ahead log. SQLite writes files beside a database that it
// reads, and migrates an older one; a copy allows both. The copy is deleted from the folder as soon as it is
// open.
absl::StatusOr<std::unique_ptr<Store>> OpenCopy(const std::string& path) {
  std::string folder = (std::filesystem::temp_directory_path() / "kiln-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    return absl::UnavailableError(absl::StrCat("cannot make ", folder, ": ", std::strerror(errno)));
  const auto remove = absl::MakeCleanup([&] {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  });
  for (const char* part : {"", "-wal"}) {
    std::error_code error;
    if (*part != 0 && !std::filesystem::exists(path + part, error)) continue;
    std::filesystem::copy_file(path + part, folder + "/kiln.db" + part, error);
    if (error) return absl::UnavailableError(absl::StrCat(path, part, " cannot be read: ", error.message()));
    std::filesystem::permissions(folder + "/kiln.db" + part, std::filesystem::perms::owner_all, error);
  }
  auto store = OpenStore(folder + "/kiln.db");
  if (store.ok()) return store;
  return absl::Status(store.status().code(),
                      absl::StrCat(path, " (read through a copy): ", store.status().message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenExistingStore(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return absl::NotFoundError(absl::StrCat(path, ": there is no such database; `kiln tune` makes one"));
  }
  return MayChange(path) ? OpenStore(path) : OpenCopy(path);
}

}  // namespace kiln::api
