#include "api/internal/model/in_place.h"

#include <map>
#include <utility>

#include "api/internal/model/time_whole.h"
#include "lang/text/hash.h"

namespace kiln::api {

absl::StatusOr<std::vector<double>> InPlace::Run(absl::Span<const PlacedTask> tasks, BuilderPool& builders) {
  if (!schedules_) {
    auto schedules = ScheduleModel(options_, input_, target_, {}, stop_);
    if (!schedules.ok()) return schedules.status();
    schedules_ = *std::move(schedules);
  }
  std::map<std::string, size_t> by_hash;
  for (size_t t = 0; t < schedules_->told.size(); ++t) by_hash[schedules_->told[t].hash] = t;
  std::vector<std::optional<size_t>> found;  // the tasks in the model
  for (const PlacedTask& task : tasks) {
    const auto at = by_hash.find(ToString(HashOf(*task.original)));
    found.push_back(at == by_hash.end() ? std::nullopt : std::optional<size_t>(at->second));
    if (found.back() && task.scheduled != nullptr)
      schedules_->scheduled[*found.back()] = {*task.scheduled, target_.contract, target_.policies};
  }
  const auto timed = TimeWhole(input_, *schedules_, target_.cores, runner_, builders, stop_);
  if (!timed.ok()) return timed.status();
  std::vector<double> seconds;
  for (const std::optional<size_t>& t : found) seconds.push_back(t ? timed->seconds[*t] : 0);
  return seconds;
}

}  // namespace kiln::api
