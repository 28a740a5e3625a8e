// Bytes under keys, in a folder: what was built before, for whoever comes later and to builders beside.
//
// A file for each key. It is written under another name and renamed, so a reader finds it whole or not at
// all; one that is damaged (its checksum tells) is removed, and not found. Beyond `max_bytes` in all, files
// that were not asked for the longest go first; that is looked at now and then, so there may be a little
// more. Anyone may remove files, or the folder, at any time.
//
// Any number of processes may use a folder; an object of this class is one thread's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "lang/base/mixer.h"

namespace kiln {

class ObjectCache {
 public:
  explicit ObjectCache(std::string folder, int64_t max_bytes = int64_t{256} << 20);

  std::optional<std::string> Find(Hash128 key);

  // kFailedPrecondition: the folder, or a file in it, cannot be written.
  absl::Status Keep(Hash128 key, const std::string& bytes);

 private:
  void RemoveOldest() const;

  const std::string folder_;
  const int64_t max_bytes_;
  int64_t kept_bytes_;  // since old files were removed; before the first time, a lot
};

// Of all bytes.
Hash128 HashOf(const std::string& bytes);

}  // namespace kiln
