// Kiln as a C++ library: turns a file into tuned kernels. The kiln command uses it (tools/), and so do
// programs that embed Kiln (docs/api.md).
//
//   api::Session session({.database = "kiln.db"});
//   if (auto status = session.Load({.path = "model.mlir"}); !status.ok()) ...
//   auto report = session.Tune({.trials = 200, .output = "out"}, [](const api::Event& event) { ... });
//
// The database stores each search. If a run was interrupted or killed, a call with the same file and the
// same settings continues it, in any program, `kiln tune` included. Measured programs are not measured
// again.
//
// Threads: one call at a time, except Interrupt, which any thread may call. Different threads may use
// different sessions, but two that tune at once disturb each other's times. Load and operations with plugins
// fork; only the calling thread lives on in the child. Events and log lines come on the calling thread,
// before the call returns. They may call Interrupt.
//
// There is no global state except the word for the current phase (api/machine.h) and spdlog's default logger, which
// gets the warnings of workers. Separate processes, kiln-builder, kiln-runner and kiln-gpu-runner, build and time
// programs. They are taken from the folder `workers`. If that is empty, they are looked up beside the running program,
// in the folder above it, and where Kiln is installed. They end with the call.
//
// Errors, among others: kInvalidArgument (a file, a space or a setting is invalid; IsMistake tells if the caller is to
// blame), kNotFound (no such file, database or record), kUnavailable (another process runs the same search, or the
// database is locked), kFailedPrecondition (no file is loaded, workers cannot start, or a record cannot be rebuilt),
// kDataLoss (a database is damaged), kAborted (the code of a plugin crashed), kCancelled (interrupted). A failed
// operation leaves the database unchanged, or with more complete rounds.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/building.h"
#include "api/event.h"
#include "api/gpu.h"
#include "api/model.h"
#include "api/records.h"
#include "api/running.h"
#include "api/tuning.h"

namespace kiln::api {

struct SessionOptions {
  std::string database = "kiln.db";  // one SQLite file; built code is kept in FILE.objects
  // The special policies that are switched off, or on if "+" stands before the name: names with commas between
  // (docs/reference/policies.md). They take effect in Load, in sketches and in built code. Records with other policies
  // are not used. If "channels-last" is named neither way, Tune chooses by measuring, and Load follows its choice.
  std::string without{};
  std::string workers{};  // folder of kiln-builder and kiln-runner; empty: they are looked up
  // Is called with lines for people, such as notes about a file or an export. If empty, the lines are dropped.
  std::function<void(absl::string_view line)> log{};
};

class Session {
 public:
  explicit Session(SessionOptions options = {});
  Session(Session&&) noexcept;
  ~Session();

  // --- Operations on a file. Load imports it and cuts it into tasks. It returns kOutOfRange if there is nothing to do:
  // no result has elements.
  absl::Status Load(const Source& source);
  const std::vector<TaskInfo>& tasks() const;
  const std::vector<LeftOut>& left_out() const;
  // Measures the rooflines of the loaded tasks on this machine, which takes a few seconds at most.
  absl::StatusOr<std::vector<Roofline>> Rooflines(int threads = 1);

  // Enumerates the sketches of the loaded tasks. The report, not the status, tells of tasks without a sketch and of
  // plugins that crashed.
  absl::StatusOr<SpaceReport> Sketches(const SketchSettings& settings = {});

  // Searches a fast schedule for each loaded task, or continues an interrupted search with the same settings. Creates
  // the database. The report, not the status, says what happened to each task.
  using EventSink = std::function<void(const Event&)>;
  absl::StatusOr<TuneReport> Tune(const TuneSettings& settings = {}, const EventSink& events = {});

  // Makes one library of the whole file. Each task gets the record that a race of whole models chose, or else the
  // fastest record of this machine, or else a default schedule (search/model/default_schedules.h). kInvalidArgument if
  // the file has an operation that neither Kiln nor upstream MLIR can compile. kFailedPrecondition if the library
  // cannot be built, if settings.check finds an error above its limit, or if a file cannot be written.
  absl::StatusOr<BuildReport> Build(const BuildSettings& settings = {});

  // Runs and times a library that Build made, in a process of its own. kInvalidArgument if a file is not what it
  // should be; kFailedPrecondition if the run fails, or an assertion of the model does not hold.
  absl::StatusOr<RunReport> Run(const RunSettings& settings);

  // Times the best record of each loaded task in turns with the untuned program and with peers (stock MLIR passes and
  // libraries). If settings.whole is set, times the whole file as one library with the records of the database, in
  // turns with the whole on default schedules.
  absl::StatusOr<BenchReport> Bench(const BenchSettings& settings = {});

  // --- Operations on the records of the database. Best lists the fastest record of each workload, target and state of
  // the caches. Show prints the program of a record in one of its forms, such as its trace or its assembly.
  absl::StatusOr<std::vector<BestRecord>> Best();
  absl::StatusOr<Shown> Show(int64_t record, const ShowSettings& settings = {});
  // Shows the loaded task `task`, which may be empty if there is only one, with the schedule of a trace file. If
  // `trace_file` is empty, the task has no schedule; for a GPU its outer loops are then bound to blocks and threads.
  absl::StatusOr<Shown> ShowTask(const std::string& task, const std::string& trace_file,
                                 const ShowSettings& settings = {});
  // Reads the calls and the memory of a model from NAME.trace, which Build wrote.
  absl::StatusOr<PlannedModel> ShowModel(const std::string& trace_file);
  // Builds a record again, compares it with the original and times it; the result's status says whether it is right.
  // kFailedPrecondition if the record is static, or of another machine; `here` allows another CPU.
  absl::StatusOr<ReplayResult> Replay(int64_t record, bool here = false);
  // Times two records of one workload in turns. kInvalidArgument if they were not measured on this machine, or not
  // built and timed alike. kFailedPrecondition if one of them does not run. kCancelled if interrupted.
  absl::StatusOr<RaceReport> Race(const RecordPlace& one, const RecordPlace& other);
  // Tries to prove a record correct, compiles it and writes its kernel and header to settings.folder.
  // kFailedPrecondition if the record failed, or is proven wrong.
  absl::StatusOr<ExportResult> Export(int64_t record, const ExportSettings& settings = {});
  // Tries to prove or refute that a schedule computes what the original does, under the trace's assumptions: the
  // schedule of a record, or of a trace file for the loaded task `task`, which may be empty if there is only one. After
  // `seconds` the prover begins nothing new, and the verdict is kUndecided if something is left to show.
  absl::StatusOr<CheckResult> Check(int64_t record, double seconds = 10);
  absl::StatusOr<CheckResult> Check(const std::string& trace_file, const std::string& task,
                                    const std::string& target = "host", double seconds = 10);

  // Draws programs of the loaded tasks from the space of a GPU, compiles them, and writes them for kiln-gpu-runner on a
  // machine that has the GPU. kNotFound without ptxas. kCancelled if interrupted.
  absl::StatusOr<BundleReport> Bundle(const BundleSettings& settings);

  // --- Operations on the database as a whole
  // Adds the records of a file: results of a bundle, or records as JSON lines, which ExportRecords writes. Creates the
  // database. kInvalidArgument names the line that is malformed.
  absl::StatusOr<ImportReport> ImportRecords(const std::string& file);
  absl::StatusOr<ExportReport> ExportRecords(const std::string& file);
  // Returns the recorded runs with their rounds: all of them if `run` is 0, else only this one. kNotFound if there is
  // none of that number, or no database.
  absl::StatusOr<std::vector<RunInfo>> Runs(int64_t run = 0);
  // Trains a cost model on the measured records of the database, except those of races, and writes it to `file`, for
  // TuneSettings::transfer.
  absl::StatusOr<TrainResult> Train(const std::string& features, const std::string& file);

  // Asks a running Tune, Build, Run, Replay, Race, Export, Bundle, or Bench of a whole to stop soon. Tune keeps its
  // results and reports `interrupted`. Other operations run to their end. Does nothing if no operation is running. Any
  // thread may call it.
  void Interrupt();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln::api
