#include "search/run/task_scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln {
namespace {

constexpr double kPast = 0.2;    // weight of the gain of past rounds
constexpr size_t kWindow = 3;    // rounds over which the past gain is averaged
constexpr double kDoubt = 0.1;   // part of its best time that a task may gain even at its bound
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
  const double bound = std::max(task.roofline, rate > 0 ? task.flops / rate : 0);
  const double future = std::max(best - bound, kDoubt * best) / static_cast<double>(rounds);
  return task.weight * (kPast * past + (1 - kPast) * future);
}

std::vector<double> GainOfMoreRounds(absl::Span<const TaskStanding> tasks, int rounds) {
  std::vector<double> doubling, counts;  // weighted gain of the last doubling, and rounds, by task
  for (const TaskStanding& task : tasks) {
    const size_t n = task.best.size();
    const double half = n < 2 ? 0 : task.best[(n - 1) / 2];
    const bool known = n >= 2 && !task.ended && std::isfinite(half);
    doubling.push_back(known ? task.weight * (half - task.best.back()) : 0);
    counts.push_back(static_cast<double>(n));
  }
  std::vector<double> gains(tasks.size());
  if (tasks.empty()) return gains;
  const auto next = [&](size_t t) {
    return doubling[t] > 0 ? doubling[t] * std::log2(1 + 1 / counts[t]) : 0;
  };
  for (int round = 0; round < rounds; ++round) {
    size_t most = 0;
    for (size_t t = 1; t < tasks.size(); ++t)
      if (next(t) > next(most)) most = t;
    gains[most] += next(most);
    ++counts[most];
  }
  return gains;
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
