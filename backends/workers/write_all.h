// Calls write(2) until all bytes are written.
#pragma once

#include <errno.h>
#include <unistd.h>

#include "absl/strings/string_view.h"

namespace kiln {

// Writes all bytes to the file. Returns false if a write fails; errno gives the reason. Goes on after interrupting
// signals.
inline bool WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace kiln
