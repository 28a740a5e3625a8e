// Decides which task gets the next round.
//
//   gradient     the task whose weighted best time is expected to fall most in its next round. The expected fall is
//                0.2 times its mean fall over the last three rounds, plus 0.8 times the remaining fall divided by the
//                number of its rounds so far. The remaining fall is its best time minus its lower bound, and at least a
//                tenth of its best time
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
  // The number of the task's occurrences in the model. If its time within the model is known, multiplied by that time
  // divided by its time alone.
  double weight = 1;
  double flops = 0;               // 0: not known
  double roofline = 0;            // seconds that the machine needs at least; 0: not known
  std::vector<double> best = {};  // seconds after each of its rounds; infinity if nothing ran yet
  bool ended = false;
};

// Returns by how many seconds a task's next round is expected to lower its best time, times the task's weight. A task's
// lower bound is its roofline, or its FLOPs at the rate `rate` if that takes longer; `rate` is the highest FLOP rate
// that any task has reached, 0 if unknown. Returns infinity before the first round. If no program of the task ran yet,
// returns infinity for up to two rounds, then 0.
double ExpectedGain(const TaskStanding& task, double rate);

// Returns for each task the weighted seconds that `rounds` more rounds of the search are expected to gain, if each
// round goes to the task that gains most. Continues past gains: each doubling of a task's rounds gains as much as the
// last doubling did. Tasks with fewer than two rounds, and those that have ended, count as 0.
std::vector<double> GainOfMoreRounds(absl::Span<const TaskStanding> tasks, int rounds);

// Returns the index of the task that gets the next round, or nullopt if all have ended. The first task that had no
// round comes first; then `scheduling` decides. `last` is the task that had the last round, or -1.
std::optional<int> NextTask(Scheduling scheduling, absl::Span<const TaskStanding> tasks, int last);

}  // namespace kiln
