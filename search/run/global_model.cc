#include "search/run/global_model.h"

#include <limits>
#include <map>
#include <tuple>

#include "lang/text/text.h"
#include "search/propose/measured_history.h"
#include "search/run/run_key.h"
#include "trace/text.h"

namespace kiln {
namespace {

struct Task {
  Program program;
  Target target;
};

}  // namespace

absl::StatusOr<GlobalModel> TrainGlobalModel(const StoreContents& contents, FeatureKind features) {
  std::map<RowId, const WorkloadRow*> workloads;
  std::map<RowId, const TargetRow*> targets;
  for (const WorkloadRow& row : contents.workloads) workloads[row.id] = &row;
  for (const TargetRow& row : contents.targets) targets[row.id] = &row;
  std::map<std::tuple<RowId, RowId, Caches>, int> numbers;
  std::vector<Task> tasks;
  for (const RecordRow& record : contents.records) {
    if (record.flags.is_static) continue;
    if (!numbers.try_emplace({record.workload, record.target, record.flags.caches()}, tasks.size()).second)
      continue;
    absl::StatusOr<Program> program = ParseProgram(workloads.at(record.workload)->program);
    if (!program.ok()) return program.status();
    absl::StatusOr<Target> target = TargetOf(*targets.at(record.target));
    if (!target.ok()) return target.status();
    tasks.push_back({*std::move(program), *std::move(target)});
  }

  GlobalModel global;
  global.tasks = static_cast<int>(tasks.size());
  MeasuredHistory history(global.tasks);
  for (const RecordRow& record : contents.records) {
    if (record.flags.race || record.flags.is_static) continue;
    const int task = numbers.at({record.workload, record.target, record.flags.caches()});
    const auto& [program, target] = tasks[task];
    if (KindFor(target, features) != features) {
      ++global.left_out;
      continue;
    }
    const absl::StatusOr<Trace> trace = ParseTrace(record.trace);
    const auto replayed = trace.ok() ? Replay(*trace, program, target, {.snapshots = false}) : trace.status();
    if (!replayed.ok()) {
      ++global.left_out;
      continue;
    }
    const double seconds =
        record.status == outcome::kOk ? Seconds(record) : std::numeric_limits<double>::infinity();
    history.Add({.task = task, .record = record.id, .seconds = seconds, .lower_bound = record.lower_bound},
                KindExtractor(target, features).Extract(*replayed));
    ++global.records;
  }
  if (global.records == 0) return absl::FailedPreconditionError("there is no record to learn from");
  absl::StatusOr<std::unique_ptr<CostModel>> model = MakeGlobalModel(features);
  if (!model.ok()) return model.status();
  global.model = *std::move(model);
  if (absl::Status status = history.Teach(*global.model); !status.ok()) return status;
  return global;
}

}  // namespace kiln
