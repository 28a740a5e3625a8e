// Finds a schedule for each task without a measurement: the one with the fewest estimated cycles
// (search/features/cycle_estimate.h) among random draws and changes of the best of them.
//
//   std::vector<DefaultTask> tasks;      // the tasks of a model, each once
//   auto schedules = DefaultSchedules(tasks, space, target, {.seconds = 5, .threads = 2});
//   if (!schedules.ok()) ...             // one for each task, in order
//
// Each task gets `draws` programs from the prior of its sketches. A draw is repeated, up to 100 times, until the
// validator accepts the program. The rest of the budget changes one decision (in one of 20 changes, the sketch) of one
// of a task's 8 best programs at a time. It goes to tasks in proportion to their estimated cycles in the model (one
// execution times occurrences).
//
// A task without a program that may be measured keeps its own program, and its note says why.
//
// Determinism. Without a budget in seconds, equal calls with equal seeds give equal schedules, for any number
// of threads.
//
// Errors: kInvalidArgument for a space that branches on draws; kCancelled if *options.stop is set. Call from
// one thread, on which the space runs.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "search/clock.h"
#include "trace/enumerate.h"

namespace kiln {

struct DefaultTask {
  Program program;
  double occurrences = 1;
  std::optional<Enumeration> sketches = {};  // of the space; enumerated if they are not given
};

struct DefaultOptions {
  uint64_t seed = 0;
  int draws = 100;      // from the prior, for each task, whatever the budget
  int64_t changes = 0;  // of decisions, for all tasks together; rounded up to a multiple of 64
  double seconds = 0;   // if not 0, changes go on until the call has taken this long instead
  int threads = 1;
  EnumerateOptions sketches = {};
  const Clock* clock = nullptr;  // default: the CPU time of the process
  const std::atomic<bool>* stop = nullptr;
};

struct DefaultSchedule {
  Trace trace;        // with its decisions; empty if the task keeps its own program
  Program program;    // scheduled
  double cycles = 0;  // estimated, of one execution
  int64_t tried = 0;  // programs that passed the validator: draws and changes
  std::string note;   // why the task keeps its own program; else empty
};

absl::StatusOr<std::vector<DefaultSchedule>> DefaultSchedules(const std::vector<DefaultTask>& tasks,
                                                              const SpaceFunction& space,
                                                              const Target& target,
                                                              const DefaultOptions& options = {});

}  // namespace kiln
