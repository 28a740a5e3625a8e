#include "backends/builder/object_cache.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lang/text/hash.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr double kLeft = 0.75;        // share of max_bytes that remains after old files are removed
constexpr int64_t kLookEvery = 16;    // checks the size each time 1 / kLookEvery of max_bytes was written
constexpr size_t kChecksum = 2 * 16;  // in hex digits

std::string Checksum(Hash128 key, const std::string& bytes) {
  return ToString(HashOf(absl::StrCat(ToString(key), bytes)));
}

}  // namespace

Hash128 HashOf(const std::string& bytes) {
  Mixer mixer;
  mixer.Add(bytes.size());
  for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof(word), bytes.size() - i));
    mixer.Add(word);
  }
  return mixer.Finish();
}

ObjectCache::ObjectCache(std::string folder, int64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes), kept_bytes_(max_bytes) {}

std::optional<std::string> ObjectCache::Find(Hash128 key) {
  const std::string path = absl::StrCat(folder_, "/", ToString(key));
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream read;
  read << file.rdbuf();
  const std::string bytes = read.str();
  std::error_code ignored;
  std::string content = bytes.substr(std::min(bytes.size(), kChecksum));
  if (bytes.substr(0, kChecksum) != Checksum(key, content)) {
    fs::remove(path, ignored);
    return std::nullopt;
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return content;
}

absl::Status ObjectCache::Keep(Hash128 key, const std::string& bytes) {
  std::error_code error;
  fs::create_directories(folder_, error);
  const std::string path = absl::StrCat(folder_, "/", ToString(key)),
                    unfinished = absl::StrCat(path, ".", getpid());
  if (!error) {
    std::ofstream file(unfinished, std::ios::binary);
    file << Checksum(key, bytes) << bytes;
    file.close();
    if (!file) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) fs::rename(unfinished, path, error);
  if (error) {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    return absl::FailedPreconditionError(absl::StrCat("built code cannot be kept in ", folder_, ": ",
                                                      error.message(), "; it is built again each time"));
  }
  kept_bytes_ += static_cast<int64_t>(bytes.size());
  if (kept_bytes_ > max_bytes_ / kLookEvery) {
    RemoveOldest();
    kept_bytes_ = 0;
  }
  return absl::OkStatus();
}

void ObjectCache::RemoveOldest() const {
  struct File {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  int64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const auto size = static_cast<int64_t>(entry.file_size(error));
    if (error) continue;
    files.push_back({entry.last_write_time(error), size, entry.path()});
    bytes += size;
  }
  if (bytes <= max_bytes_) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& file : files) {
    if (static_cast<double>(bytes) <= kLeft * static_cast<double>(max_bytes_)) break;
    fs::remove(file.path, error);
    bytes -= file.bytes;
  }
}

bool FindResult(ObjectCache& cache, Hash128 key, BuildResult* result) {
  const std::optional<std::string> bytes = cache.Find(key);
  if (!bytes || !Decode(*bytes, result)) return false;
  return result->from_folder = true;
}

void KeepResult(ObjectCache& cache, Hash128 key, BuildResult* result) {
  const absl::Status kept = cache.Keep(key, Encode(*result));
  if (!kept.ok()) result->remark = std::string(kept.message());
}

}  // namespace kiln
