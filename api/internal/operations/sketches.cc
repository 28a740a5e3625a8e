// Session::Sketches: lists the sketches of each task.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/internal/operations/operations.h"
#include "api/internal/spaces/named_space.h"
#include "api/internal/tasks.h"
#include "backends/cpu/targets.h"
#include "lang/base/phase.h"

namespace kiln::api {

double TaskSketches::support() const {
  double support = 0;
  for (const Sketch& sketch : sketches.sketches) support += std::exp(sketch.log_support);
  return support;
}

absl::Status NoSuchTask(const Input& input, const std::string& name) {
  return Mistake(absl::InvalidArgumentError(absl::StrCat(input.shown, " has no task \"", name, "\"")));
}

absl::StatusOr<SpaceReport> SketchTasks(const Input& input, const std::vector<TaskInfo>& tasks,
                                        const SketchSettings& settings) {
  absl::StatusOr<Target> target = NamedTarget(settings.target, settings.threads);
  if (!target.ok()) return Mistake(target.status());
  target->policies = input.policies;
  const absl::StatusOr<NamedSpace> space = ResolveSpace(settings.space, *target);
  if (!space.ok()) return space.status();
  SpaceReport report{.file = input.shown,
                     .space = space->text,
                     .target = settings.target,
                     .items = settings.space.function ? space->text : ExpandSpace(space->text, *target),
                     .cores = target->cores,
                     .tasks = {},
                     .left_out = LeftOutOf(input),
                     .status = {}};
  std::string without;  // names of the tasks without a sketch
  const Phase phase("enumeration");
  for (const TaskInfo& task : tasks) {
    if (!settings.task.empty() && task.name != settings.task) continue;
    TaskSketches& of_task = report.tasks.emplace_back();
    of_task.task = task;
    absl::StatusOr<Enumeration> sketches =
        space->enumerate(task.program, {.space = space->text, .limit = settings.limit});
    if (absl::IsAborted(sketches.status())) {  // a plugin crashed; the sketches of other tasks are kept
      of_task.status = sketches.status();
      report.status.Update(
          absl::AbortedError(absl::StrCat("task ", task.name, ": ", sketches.status().message())));
      continue;
    }
    if (!sketches.ok()) return sketches.status();
    if (sketches->sketches.empty()) absl::StrAppend(&without, without.empty() ? "" : ", ", task.name);
    of_task.sketches = *std::move(sketches);
  }
  if (report.tasks.empty()) return NoSuchTask(input, settings.task);
  if (!without.empty()) {
    report.status.Update(absl::FailedPreconditionError(
        absl::StrCat("the space gives no sketch that applies for ", without,
                     "; the reasons are under \"dropped\" (`kiln space --task NAME`)")));
  }
  return report;
}

}  // namespace kiln::api
