#include "search/measure/noise.h"

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

constexpr double kQuiet = 1.1;  // the same limit as in TimingPolicy (backends/runner/runner.h)

}  // namespace

Quiet QuietOf(absl::Span<const double> raw_samples, const RecordFlags& flags) {
  Quiet quiet{.samples = static_cast<int>(raw_samples.size() / 2)};
  int quiet_samples = 0;
  for (size_t i = 1; i < raw_samples.size(); i += 2) quiet_samples += raw_samples[i] <= kQuiet;
  quiet.quiet = std::min(quiet_samples, quiet.samples - std::min(flags.preempted, quiet.samples));
  return quiet;
}

bool RaceDiffers(double race, double search) {
  return std::isfinite(search) && search > 0 && race > 0 &&
         std::max(race / search, search / race) > kRaceDiffers;
}

}  // namespace kiln
