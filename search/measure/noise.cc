#include "search/measure/noise.h"

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

constexpr double kCalm = 1.1;  // the same limit as in TimingPolicy (backends/runner/runner.h)

}  // namespace

Quiet QuietOf(absl::Span<const double> taken, const RecordFlags& flags) {
  Quiet quiet{.samples = static_cast<int>(taken.size() / 2)};
  int calm = 0;
  for (size_t i = 1; i < taken.size(); i += 2) calm += taken[i] <= kCalm;
  quiet.quiet = std::min(calm, quiet.samples - std::min(flags.preempted, quiet.samples));
  return quiet;
}

bool RaceDiffers(double race, double search) {
  return std::isfinite(search) && search > 0 && race > 0 &&
         std::max(race / search, search / race) > kRaceDiffers;
}

}  // namespace kiln
