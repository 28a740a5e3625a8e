// Which task gets the next round: in turns, until a task has nothing new to measure.
//
// Replace it to give more of the budget to the tasks that weigh more in a model or still improve. A plain
// value, whose position is part of a run's state.
#pragma once

#include <optional>
#include <vector>

namespace kiln {

class TaskScheduler {
 public:
  explicit TaskScheduler(int tasks) : exhausted_(tasks, false) {}

  // The task after the last one given; none when all are exhausted.
  std::optional<int> Next();
  void SetExhausted(int task) { exhausted_[task] = true; }

  int last() const { return last_; }
  void set_last(int task) { last_ = task; }

 private:
  std::vector<bool> exhausted_;
  int last_ = -1;
};

}  // namespace kiln
