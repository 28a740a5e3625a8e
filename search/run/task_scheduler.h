// Which task gets the next round.
//
//   gradient     the one whose total latency (weight times its best) is expected to fall most by a round:
//                a mean of what its last rounds have gained and of what another one may still gain
//   round-robin  in turns
//
// In both each task gets a first round before any gets a second, and tasks that have ended get none.
// Pure functions of what is given.
#pragma once

#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace kiln {

enum class Scheduling { kGradient, kRoundRobin };

struct TaskStanding {
  double weight = 1;              // occurrences in the model
  double flops = 0;               // 0: not known
  std::vector<double> best = {};  // seconds after each of its rounds; infinity while nothing ran
  bool ended = false;
};

// Seconds of the whole that a round of this task is expected to gain. `rate` is the highest flops a second
// that any task has reached, 0 if not known: a task may be hoped to come near it.
double ExpectedGain(const TaskStanding& task, double rate);

// `last` is the task that had the last round, -1 without. None: all have ended.
std::optional<int> NextTask(Scheduling scheduling, absl::Span<const TaskStanding> tasks, int last);

}  // namespace kiln
