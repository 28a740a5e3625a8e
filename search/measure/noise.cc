#include "search/measure/noise.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kiln {
namespace {

constexpr double kCalm = 1.1;  // as in TimingPolicy (backends/runner/runner.h)

}  // namespace

bool HasFlag(absl::string_view flags, absl::string_view word) {
  for (const absl::string_view flag : absl::StrSplit(flags, ' '))
    if (flag == word) return true;
  return false;
}

double FlagNumber(absl::string_view flags, absl::string_view name) {
  for (absl::string_view flag : absl::StrSplit(flags, ' ')) {
    double number = 0;
    if (absl::ConsumePrefix(&flag, name) && absl::ConsumePrefix(&flag, "=") &&
        absl::SimpleAtod(flag, &number) && std::isfinite(number))
      return number;
  }
  return 0;
}

Quiet QuietOf(absl::Span<const double> taken, absl::string_view flags) {
  Quiet quiet{.samples = static_cast<int>(taken.size() / 2)};
  int calm = 0;
  for (size_t i = 1; i < taken.size(); i += 2) calm += taken[i] <= kCalm;
  const double preempted = std::min(FlagNumber(flags, "preempted"), static_cast<double>(quiet.samples));
  quiet.quiet = std::min(calm, quiet.samples - static_cast<int>(std::max(0.0, preempted)));
  return quiet;
}

bool RaceDiffers(double race, double search) {
  return std::isfinite(search) && search > 0 && race > 0 &&
         std::max(race / search, search / race) > kRaceDiffers;
}

}  // namespace kiln
