#include "backends/model/weights_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "backends/model/npz.h"
#include "backends/model/safetensors.h"

namespace kiln {
namespace {

struct Mapped {
  std::shared_ptr<const void> memory;
  absl::string_view bytes;
};

absl::Status CannotRead(const std::string& path) {
  const std::string text = absl::StrCat(path, ": cannot be read: ", std::strerror(errno));
  return errno == ENOENT ? absl::NotFoundError(text) : absl::UnavailableError(text);
}

absl::StatusOr<Mapped> Map(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return CannotRead(path);
  const std::unique_ptr<const int, void (*)(const int*)> closer(&fd, [](const int* open) { close(*open); });
  struct stat info = {};
  if (fstat(fd, &info) != 0) return CannotRead(path);
  if (!S_ISREG(info.st_mode)) return WeightsError(path, "is no file; wanted .safetensors or .npz");
  const auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return Mapped{};
  void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (memory == MAP_FAILED) return CannotRead(path);
  return Mapped{std::shared_ptr<const void>(
                    memory, [size](const void* mapped) { munmap(const_cast<void*>(mapped), size); }),
                {static_cast<const char*>(memory), size}};
}

}  // namespace

absl::StatusOr<WeightsFile> WeightsFile::Open(const std::string& path) {
  absl::StatusOr<Mapped> mapped = Map(path);
  if (!mapped.ok()) return mapped.status();
  absl::StatusOr<WeightsFile> file = FromBytes(mapped->bytes, path);
  if (file.ok()) file->mapping_ = std::move(mapped->memory);
  return file;
}

absl::StatusOr<WeightsFile> WeightsFile::FromBytes(absl::string_view bytes, const std::string& name) {
  WeightsFile file;
  file.name_ = name;
  const bool zip = absl::StartsWith(bytes, "PK");
  if (!zip && absl::EndsWith(name, ".npz")) return WeightsError(name, "is no zip file, as .npz are");
  auto tensors = zip ? ReadNpz(bytes, name, &file.read_) : ParseSafetensors(bytes, name);
  if (!tensors.ok()) return tensors.status();
  file.tensors_ = *std::move(tensors);
  return file;
}

}  // namespace kiln
