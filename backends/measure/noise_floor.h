// Keeps the time of the reference kernel on an undisturbed core: the shortest time that this process measured, or that
// earlier processes stored.
//
// A core that shares its units with another guest is disturbed for seconds at a time, so a short process may never see
// it undisturbed. The shortest time is therefore kept in a folder, if one is given (backends/builder/object_cache.h),
// and later processes start from it.
#pragma once

#include <optional>
#include <string>

#include "backends/builder/object_cache.h"

namespace kiln {

class NoiseFloor {
 public:
  // Loads the stored time, if there is one. `kernel`: bytes that identify the kernel and the machine. If the
  // folder is empty, nothing is loaded or stored.
  NoiseFloor(const std::string& kernel, const std::string& folder);

  bool IsKnown() const { return seconds_ > 0; }
  double seconds() const { return seconds_; }  // 0 if unknown

  void Saw(double seconds);

 private:
  const Hash128 key_;
  std::optional<ObjectCache> kept_;
  double seconds_ = 0;
};

}  // namespace kiln
