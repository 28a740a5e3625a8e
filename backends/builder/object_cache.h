// Stores bytes, such as built objects, under keys in a folder, for later processes and for other builders.
//
// Each key has a file, which is written under another name and renamed, so that a reader finds a complete file or none.
// A checksum reveals a damaged file, which is removed and not found. When the files together exceed `max_bytes`, the
// files that were not used for the longest are removed, until the rest takes at most three quarters of `max_bytes`.
// Their size is checked only at the first Keep of an ObjectCache and each time it has stored another sixteenth of
// `max_bytes`, so the folder may be slightly larger. Anyone may remove files, or the folder, at any time.
//
// Any number of processes may use a folder. One thread uses an object of this class.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "backends/builder/builder.h"
#include "lang/base/mixer.h"

namespace kiln {

class ObjectCache {
 public:
  explicit ObjectCache(std::string folder, int64_t max_bytes = int64_t{256} << 20);

  std::optional<std::string> Find(Hash128 key);

  // Stores the bytes under the key. kFailedPrecondition if the folder, or a file in it, cannot be written.
  absl::Status Keep(Hash128 key, const std::string& bytes);

 private:
  void RemoveOldest() const;

  const std::string folder_;
  const int64_t max_bytes_;
  int64_t kept_bytes_;  // bytes stored since the last check of the size; max_bytes before the first check
};

// Reads the build result that is stored under the key, and sets its `from_folder`. Returns false, and an unspecified
// result, if there is none or it cannot be decoded.
bool FindResult(ObjectCache& cache, Hash128 key, BuildResult* result);
// Stores a build result under the key. If that fails, sets the result's `remark` to the reason.
void KeepResult(ObjectCache& cache, Hash128 key, BuildResult* result);

// Returns a 128-bit hash of the bytes, for keys and checksums.
Hash128 HashOf(const std::string& bytes);

}  // namespace kiln
