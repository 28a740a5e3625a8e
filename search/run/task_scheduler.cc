#include "search/run/task_scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln {
namespace {

constexpr double kPast = 0.2;    // weight of the gain of past rounds
constexpr size_t kWindow = 3;    // rounds over which the past gain is averaged
constexpr double kWithin = 2;    // a task may hope for the highest rate divided by this factor
constexpr size_t kPatience = 3;  // rounds for a task before it has any program that runs

std::optional<int> InTurn(absl::Span<const TaskStanding> tasks, int last) {
  const int n = static_cast<int>(tasks.size());
  for (int step = 1; step <= n; ++step) {
    const int task = (last + step) % n;
    if (!tasks[task].ended) return task;
  }
  return std::nullopt;
}

double RateOf(const TaskStanding& task) {
  const bool known = task.flops > 0 && !task.best.empty() && std::isfinite(task.best.back());
  return known ? task.flops / task.best.back() : 0;
}

}  // namespace

double ExpectedGain(const TaskStanding& task, double rate) {
  const size_t rounds = task.best.size();
  const double infinity = std::numeric_limits<double>::infinity();
  if (rounds == 0) return infinity;
  const double best = task.best.back();
  if (!std::isfinite(best)) return rounds < kPatience ? infinity : 0;
  const size_t window = std::min(kWindow, rounds - 1);
  const double before = task.best[rounds - 1 - window];
  const double past = window > 0 && std::isfinite(before) ? (before - best) / static_cast<double>(window) : 0;
  double future = best / static_cast<double>(rounds);
  if (task.flops > 0 && rate > 0) future = std::max(future, best - kWithin * task.flops / rate);
  return task.weight * (kPast * past + (1 - kPast) * future);
}

std::optional<int> NextTask(Scheduling scheduling, absl::Span<const TaskStanding> tasks, int last) {
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!tasks[i].ended && tasks[i].best.empty()) return static_cast<int>(i);
  }
  if (scheduling == Scheduling::kRoundRobin) return InTurn(tasks, last);
  double rate = 0;
  for (const TaskStanding& task : tasks) rate = std::max(rate, RateOf(task));
  std::optional<int> next;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].ended) continue;
    if (!next || ExpectedGain(tasks[i], rate) > ExpectedGain(tasks[*next], rate)) next = static_cast<int>(i);
  }
  return next;
}

}  // namespace kiln
