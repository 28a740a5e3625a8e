// Runs the whole model between rounds, to learn how much slower each task is within the model than alone. Estimates how
// much another minute of search would gain.
#include <algorithm>
#include <cmath>
#include <utility>

#include "search/run/tuner.h"

namespace kiln::internal {
namespace {

constexpr double kPartOfTime = 0.1;  // of the time so far, for runs of the whole model if time is limited
constexpr double kLeastSlower = 0.5,
                 kMostSlower = 5;  // limits of the ratio of a time within the model to that alone
constexpr double kLeastReading = 0.1, kLeastShare = 0.01, kSlowInPlace = 1.5;
constexpr int kTimedAgain = 32;

}  // namespace

bool Tuner::WholeIsDue() const {
  if (!options_.in_place || TotalTrials() < 2 * whole_trials_) return false;
  if (options_.seconds > 0 && whole_seconds_ > kPartOfTime * Elapsed()) return false;
  for (size_t t = 0; t < tasks_.size(); ++t) {
    if (tasks_[t].best.empty() && Ended(static_cast<int>(t)).empty()) return false;
  }
  return true;
}

absl::Status Tuner::RunWhole() {
  if (!WholeIsDue() || BudgetSpent()) return absl::OkStatus();
  const double start = Elapsed();
  whole_trials_ = TotalTrials();
  std::vector<std::optional<Point>> fastest(tasks_.size());
  std::vector<PlacedTask> placed(tasks_.size());
  for (size_t t = 0; t < tasks_.size(); ++t) {
    placed[t].original = &tasks_in_[t].program;
    for (const Measured* best : history_.Best(static_cast<int>(t), 1)) {
      absl::StatusOr<Point> point = PointOf(*tasks_[t].space, prefilter_, best->candidate);
      if (!point.ok()) continue;
      fastest[t].emplace(*std::move(point));
      placed[t].scheduled = &fastest[t]->replayed.program();
    }
  }
  const absl::StatusOr<std::vector<double>> seconds = options_.in_place(placed);
  whole_seconds_ += Elapsed() - start;
  if (Stopped() || absl::IsCancelled(seconds.status())) return absl::CancelledError("stopped");
  if (!seconds.ok() || seconds->size() != tasks_.size()) return absl::OkStatus();
  for (size_t t = 0; t < tasks_.size(); ++t) {
    const double alone = history_.best_seconds(static_cast<int>(t)), in_place = (*seconds)[t];
    if (!(in_place > 0) || placed[t].scheduled == nullptr || !std::isfinite(alone)) continue;
    tasks_[t].in_place = in_place;
    tasks_[t].slower = std::clamp(in_place / alone, kLeastSlower, kMostSlower);
  }
  MoveIntoModel();
  return absl::OkStatus();
}

// Moves tasks into the model whose constants are far away there: to read them from memory takes over a tenth of the
// task's time alone, and either the constants of all tasks exceed the last cache, or the task takes over 1.5 times as
// long in place as alone. Tasks that take less than 1% of the whole stay.
void Tuner::MoveIntoModel() {
  double whole = 0, bytes = 0;
  for (size_t t = 0; t < tasks_.size(); ++t) {
    whole += tasks_[t].in_place * tasks_in_[t].weight;
    bytes += tasks_in_[t].constant_bytes * tasks_in_[t].weight;
  }
  const bool exceeds = bytes > static_cast<double>(target_.l3_bytes);
  for (int t = 0; t < static_cast<int>(tasks_.size()); ++t) {
    const double reading = options_.seconds_per_byte * tasks_in_[t].constant_bytes;
    const bool large = tasks_[t].in_place * tasks_in_[t].weight > kLeastShare * whole;
    if (large && reading > kLeastReading * history_.best_seconds(t) &&
        (exceeds || tasks_[t].slower > kSlowInPlace))
      MoveIntoModel(t);
  }
}

void Tuner::MoveIntoModel(int task) {
  Task& t = tasks_[task];
  if (t.in_model || options_.cold) return;
  t.in_model = true;
  t.slower = 1;
  t.best.clear();  // the task gets the next round
  t.trials_by_round.clear();
  history_.SetAside(task);
  StartFromAside(task);
}

// Adds the fastest programs of those that were set aside to the start candidates of a task.
void Tuner::StartFromAside(int task) {
  for (const Measured* fast : history_.Best(history_.Aside(task), kTimedAgain))
    tasks_[task].start.push_back(fast->candidate);
}

void Tuner::MoveBack() {
  for (int t = 0; t < static_cast<int>(tasks_.size()); ++t) {
    if (options_.in_model || !tasks_[t].in_model || std::isfinite(history_.best_seconds(t))) continue;
    tasks_[t].in_model = false;
    history_.TakeBack(t);
  }
}

std::vector<double> Tuner::MinuteGains() const {
  int rounds = 0;
  for (const Task& task : tasks_) rounds += task.round;
  const double elapsed = Elapsed();
  const double more = rounds == 0 || elapsed <= 0 ? 0 : std::min(60 * rounds / elapsed, 1e4);
  return GainOfMoreRounds(Standings(), static_cast<int>(more));
}

}  // namespace kiln::internal
