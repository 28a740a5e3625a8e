// Chooses the schedule of each task of a model: the record that a race of whole models chose, or else the fastest
// record of the database (one timed as within a model, unless that is much slower than one with warm caches; else one
// with warm, else with cold caches), or else a default schedule (search/model/default_schedules.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/building.h"
#include "api/internal/input.h"
#include "api/internal/stop.h"
#include "api/session.h"
#include "backends/model/compile_model.h"
#include "lang/target/target.h"
#include "search/model/default_schedules.h"

namespace kiln::api {

// The tasks of a model and the schedule that each is compiled from. All lists are by task, in the order of
// ExtractAllTasks.
struct ModelSchedules {
  std::vector<Task> tasks;
  std::vector<ScheduledTask> scheduled;
  std::vector<std::string> traces;  // empty: the task has no schedule
  std::vector<BuiltTask> told;      // one for each task, then one for each foreign call
};

struct ScheduleWishes {
  bool records = true;  // false: default schedules alone
  // Whether to take the record that a race of whole models chose for a task (chosen_records.h) in place of its fastest
  // record. The choice holds as long as the fastest record is still the one of that time.
  bool chosen = true;
};

// Extracts the tasks of the model and chooses a schedule for each. kInvalidArgument (a Mistake) if the file has an
// operation that neither Kiln nor upstream MLIR can compile; kCancelled if interrupted.
absl::StatusOr<ModelSchedules> ScheduleModel(const SessionOptions& options, const Input& input,
                                             const Target& target, const ScheduleWishes& wishes, Stop& stop);

// Finds a default schedule for each task (search/model/default_schedules.h), always the same one for the same tasks:
// the budget is a number of changes. kCancelled if interrupted.
absl::StatusOr<std::vector<DefaultSchedule>> DrawDefaults(const std::vector<DefaultTask>& tasks,
                                                          const SpaceFunction& space, const Target& target,
                                                          Stop& stop);

// Gives task number `task` the schedule of a record of the database. Errors: those of Rebuild.
absl::Status UseRecord(const SessionOptions& options, int64_t record, size_t task, ModelSchedules* schedules);

}  // namespace kiln::api
