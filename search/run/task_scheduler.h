// Decides which task gets the next round.
//
//   gradient     the task whose weighted best time is expected to fall most in a round. The expectation is a
//                weighted mean of the gain of its last rounds and of what it may still gain, which is shared out
//                over as many rounds as it had
//   round-robin  each task in turn
//
// With both, each task gets a first round before any gets a second. Tasks that have ended get no rounds.
// Pure functions.
#pragma once

#include <optional>
#include <vector>

#include "absl/types/span.h"

namespace kiln {

enum class Scheduling { kGradient, kRoundRobin };

struct TaskStanding {
  // Number of occurrences in the model, times how many times as long one takes there as alone, if that is known.
  double weight = 1;
  double flops = 0;               // 0: not known
  double roofline = 0;            // seconds that the machine needs at least; 0: not known
  std::vector<double> best = {};  // seconds after each of its rounds; infinity if nothing ran yet
  bool ended = false;
};

// Returns the weighted seconds that a round of this task is expected to gain. `rate` is the highest FLOP
// rate that any task has reached, 0 if unknown. A task may come near that rate and its roofline.
double ExpectedGain(const TaskStanding& task, double rate);

// Returns the weighted seconds that this many more rounds are expected to gain, for each task, if each round goes to the
// task that gains most. Past gains are continued: a task gains as much by each doubling of its rounds as by the last
// one. Tasks without two rounds, and those that have ended, count as 0.
std::vector<double> GainOfMoreRounds(absl::Span<const TaskStanding> tasks, int rounds);

// Returns the task for the next round; none if all have ended. `last` is the task that had the last round,
// or -1.
std::optional<int> NextTask(Scheduling scheduling, absl::Span<const TaskStanding> tasks, int last);

}  // namespace kiln
