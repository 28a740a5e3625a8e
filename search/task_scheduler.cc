#include "search/task_scheduler.h"

namespace kiln {

std::optional<int> TaskScheduler::Next() {
  const int tasks = static_cast<int>(exhausted_.size());
  for (int step = 1; step <= tasks; ++step) {
    const int task = (last_ + step) % tasks;
    if (exhausted_[task]) continue;
    last_ = task;
    return task;
  }
  return std::nullopt;
}

}  // namespace kiln
