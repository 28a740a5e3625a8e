// Keeps bytes under keys in a folder: objects that were built, for later processes and for builders that run
// beside.
//
// Each key has a file. It is written under another name and renamed, so a reader finds it whole or not at
// all. A damaged file, which its checksum reveals, is removed and not found. When the files together exceed
// `max_bytes`, those that were not used for the longest are removed. That is checked now and then, so the
// folder may be a little larger. Anyone may remove files, or the folder, at any time.
//
// Any number of processes may use a folder. An object of this class belongs to one thread.
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
