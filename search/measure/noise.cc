#include "search/measure/noise.h"

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

constexpr double kQuiet = 1.1;  // the same limit as in TimingPolicy (backends/runner/runner.h)
constexpr double kDecided = 2;

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

bool IsDecided(const std::vector<double>& first, const std::vector<std::vector<double>>& peers) {
  struct Range {
    double fastest, slowest;
  };
  std::vector<Range> programs;
  const auto add = [&](const std::vector<double>& samples) {
    if (samples.empty()) return false;
    const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
    programs.push_back({*low, *high});
    return true;
  };
  if (peers.empty() || !add(first) || !std::all_of(peers.begin(), peers.end(), add)) return false;
  // Sorts the programs by their fastest samples. If the fastest sample of the second program takes at least twice as
  // long as the slowest of the first, so do those of all others.
  std::sort(programs.begin(), programs.end(),
            [](const Range& a, const Range& b) { return a.fastest < b.fastest; });
  return programs[1].fastest >= kDecided * programs[0].slowest;
}

}  // namespace kiln
