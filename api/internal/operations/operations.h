// Declares the functions that implement the operations of a Session (api/session.h), except Load, Rooflines and Tune,
// and the functions that several of them share.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/building.h"
#include "api/gpu.h"
#include "api/internal/input.h"
#include "api/internal/stop.h"
#include "api/session.h"
#include "backends/export/export.h"
#include "lang/target/target.h"
#include "search/database/rows.h"

namespace kiln::api {

absl::StatusOr<SpaceReport> SketchTasks(const Input& input, const std::vector<TaskInfo>& tasks,
                                        const SketchSettings& settings);
absl::StatusOr<BenchReport> BenchTasks(const SessionOptions& options, const Input& input,
                                       const BenchSettings& settings);
absl::StatusOr<BenchReport> BenchWhole(const SessionOptions& options, const Input& input,
                                       const BenchSettings& settings, Stop& stop);
absl::StatusOr<BuildReport> BuildModel(const SessionOptions& options, const Input& input,
                                       const BuildSettings& settings, Stop& stop);
absl::StatusOr<RunReport> RunModel(const SessionOptions& options, const RunSettings& settings, Stop& stop);

absl::StatusOr<std::vector<BestRecord>> BestRecords(const SessionOptions& options);
absl::StatusOr<Shown> ShowRecord(const SessionOptions& options, RowId id, const ShowSettings& settings);
absl::StatusOr<Shown> ShowTask(const SessionOptions& options, const Input& input, const std::string& task,
                               const std::string& trace_file, const ShowSettings& settings);
absl::StatusOr<PlannedModel> ReadModelTrace(const std::string& path);
absl::StatusOr<ReplayResult> ReplayRecord(const SessionOptions& options, RowId id, bool here, Stop& stop);
absl::StatusOr<RaceReport> RaceRecords(const SessionOptions& options, const RecordPlace& one,
                                       const RecordPlace& other, Stop& stop);
absl::StatusOr<ExportResult> ExportRecord(const SessionOptions& options, RowId id,
                                          const ExportSettings& settings, Stop& stop);
absl::StatusOr<CheckResult> CheckRecord(const SessionOptions& options, RowId id, double seconds);
absl::StatusOr<CheckResult> CheckTrace(const Input& input, const std::string& trace_file,
                                       const std::string& task, const std::string& target, double seconds);

absl::StatusOr<BundleReport> MakeBundle(const SessionOptions& options, const Input& input,
                                        const std::vector<TaskInfo>& tasks, const BundleSettings& settings,
                                        Stop& stop);
absl::StatusOr<ImportReport> ImportRecordsFrom(const SessionOptions& options, const std::string& file);
absl::StatusOr<ExportReport> ExportRecordsTo(const SessionOptions& options, const std::string& file);

absl::StatusOr<std::vector<RunInfo>> RunsOf(const SessionOptions& options, RowId run);
absl::StatusOr<TrainResult> TrainModel(const SessionOptions& options, const std::string& features,
                                       const std::string& file);

// --- The functions below are shared by several operations: the export for a GPU, and look-ups of tasks and targets.

// Compiles the program for a GPU, with the flags of its record, and writes the code and a header to the folder.
// `checked` is a text for the header: how far the kernel was checked. kFailedPrecondition if it cannot be compiled.
absl::StatusOr<Exported> ExportForGpu(const Program& program, const std::string& name,
                                      const std::string& folder, BuilderPool& builders, const Target& target,
                                      const RecordRow& record, const std::string& checked);

// Returns the task of this name, or the only task if the name is empty. It is a Mistake if there is none or
// several.
absl::StatusOr<const Task*> TaskNamed(const Input& input, const std::string& name);
absl::Status NoSuchTask(const Input& input, const std::string& name);  // a Mistake

// Returns the named target or, without a name, the one that measured the record. An unknown name is a Mistake.
absl::StatusOr<Target> TargetOfRecord(const std::string& name, const Target& measured);
// Returns a description of a target, such as "znver3, 1 core".
std::string MachineText(const Target& target);

// Sets the target of a request to a builder or an export. If the target is this machine, leaves the fields empty, which
// means the same.
template <typename Request>
void MakeFor(const Target& target, bool is_host, Request* request) {
  if (is_host) return;
  request->triple = target.triple;
  request->cpu = target.cpu;
  request->features = target.features;
}

}  // namespace kiln::api
