#include "backends/measure/noise_floor.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace kiln {

NoiseFloor::NoiseFloor(const std::string& kernel, const std::string& folder)
    : key_(HashOf(absl::StrCat("undisturbed ", kernel))) {
  if (folder.empty()) return;
  kept_.emplace(folder);
  if (const std::optional<std::string> text = kept_->Find(key_); text && !absl::SimpleAtod(*text, &seconds_))
    seconds_ = 0;
}

void NoiseFloor::Saw(double seconds) {
  if (IsKnown() && seconds >= seconds_) return;
  seconds_ = seconds;
  // Stores the time for later processes. If that fails, they measure the time again.
  if (kept_) kept_->Keep(key_, absl::StrCat(seconds)).IgnoreError();
}

}  // namespace kiln
