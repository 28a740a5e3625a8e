#include "api/internal/model/time_whole.h"

#include <map>
#include <utility>

#include "api/internal/model/run_whole.h"

namespace kiln::api {
namespace {

constexpr int kRuns = 10;           // runs that time each call
constexpr double kMaxSeconds = 60;  // limit for all runs

}  // namespace

absl::StatusOr<TimedWhole> TimeWhole(const Input& input, const ModelSchedules& schedules, int threads,
                                     const std::string& runner, BuilderPool& builders, Stop& stop) {
  auto whole = CompileWhole(input, schedules, "whole", builders);
  if (!whole.ok()) return whole.status();
  TimedWhole timed{.kernel = KernelOfModel(whole->described, std::move(whole->library.shared_object)),
                   .described = std::move(whole->described)};
  RunRequest request{
      .kernel = timed.kernel, .threads = threads, .profile = ProfileOf(timed.described, kRuns)};
  request.timing.runs = 1;
  request.limits = {.seconds = kMaxSeconds, .bytes = RunBytesOf(timed.described)};
  const auto ran = RunWhole(std::move(request), runner, stop);
  if (!ran.ok()) return ran.status();
  std::map<std::string, std::pair<double, int>> sums;
  for (const CallTimes& call : CallTimesOf(timed.described, ran->call_seconds)) {
    auto& [seconds, calls] = sums[call.task];
    seconds += call.seconds.median;
    ++calls;
  }
  for (const BuiltTask& task : schedules.told) {
    const auto sum = sums.find(task.name);
    timed.seconds.push_back(sum == sums.end() ? 0 : sum->second.first / sum->second.second);
  }
  return timed;
}

}  // namespace kiln::api
