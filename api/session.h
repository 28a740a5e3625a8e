// Kiln from C++: what turns a file into a tuned kernel. The kiln command is made of it (tools/), and so is
// what embeds Kiln (docs/api.md).
//
//   api::Session session({.database = "kiln.db"});
//   if (auto status = session.Load({.path = "model.mlir"}); !status.ok()) ...
//   auto report = session.Tune({.trials = 200, .output = "out"}, [](const api::Event& event) { ... });
//
// A search is kept in the database. The same file with the same settings goes on with a run that was
// interrupted or killed, in this program, another one, or `kiln tune`; what was measured is not measured
// again.
//
// Threads: one call at a time, but Interrupt, which any thread may call. Several sessions may be used by
// several threads, each by one; two that tune at the same time disturb each other's times. Load and what uses
// plugins fork: only the calling thread lives on in the child. Events and log lines come on the calling
// thread, before the call returns; they may call Interrupt.
//
// There is no global state, but the word for what this process is doing (api/machine.h), and spdlog's default
// logger, to which workers' warnings go. Times are measured in processes of their own, kiln-builder and
// kiln-runner, which are looked for in `workers`, beside the running program and beside the library, and end with
// the call.
//
// Errors: kInvalidArgument (a file, a space or a setting is not what it should be; where the caller is to
// blame, IsMistake), kNotFound (no such file, database or record), kUnavailable (another process runs the
// same search, or the database is locked), kFailedPrecondition (workers cannot be started; a record cannot be
// rebuilt), kDataLoss (a database is damaged), kCancelled (interrupted). An operation that fails leaves the
// database as it was, or with whole rounds more.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "api/event.h"
#include "api/model.h"
#include "api/records.h"
#include "api/tuning.h"

namespace kiln::api {

struct SessionOptions {
  std::string database = "kiln.db";  // one SQLite file; code that was built is kept in FILE.objects
  std::string workers{};             // the folder of kiln-builder and kiln-runner; empty: they are looked for
  // Gets lines for a person, such as notes about an export. None: they are dropped.
  std::function<void(absl::string_view line)> log{};
};

class Session {
 public:
  explicit Session(SessionOptions options = {});
  Session(Session&&) noexcept;
  ~Session();

  // --- A file. kOutOfRange: there is nothing to do, as no result has elements.
  absl::Status Load(const Source& source);
  const std::vector<TaskInfo>& tasks() const;
  const std::vector<LeftOut>& left_out() const;
  // Measured here and now, which takes a few seconds at most.
  absl::StatusOr<std::vector<Roofline>> Rooflines(int threads = 1);

  // What the space makes of the loaded tasks.
  absl::StatusOr<SpaceReport> Sketches(const SketchSettings& settings = {});

  // Searches a fast schedule for each loaded task, or goes on with such a search. Makes the database. What
  // became of the tasks is told by the report, not by the status.
  using EventSink = std::function<void(const Event&)>;
  absl::StatusOr<TuneReport> Tune(const TuneSettings& settings = {}, const EventSink& events = {});

  // The best of the database for the loaded tasks, in turns with the programs as they came and with their
  // peers.
  absl::StatusOr<BenchReport> Bench(const BenchSettings& settings = {});

  // --- Records of the database
  absl::StatusOr<std::vector<BestRecord>> Best();
  absl::StatusOr<Shown> Show(int64_t record, const ShowSettings& settings = {});
  // Builds it again, compares it with the original and times it. `here`: though it was measured elsewhere.
  absl::StatusOr<ReplayResult> Replay(int64_t record, bool here = false);
  // Refuses a record that failed, or that is shown to be wrong.
  absl::StatusOr<ExportResult> Export(int64_t record, const ExportSettings& settings = {});
  // Whether a schedule computes what the original does: of a record, or of a trace (a file) for the loaded
  // task `task`, which may be empty if there is one. `seconds`: after which no new question is asked.
  absl::StatusOr<CheckResult> Check(int64_t record, double seconds = 10);
  absl::StatusOr<CheckResult> Check(const std::string& trace_file, const std::string& task,
                                    const std::string& target = "host", double seconds = 10);

  // --- The database as a whole
  // With their rounds; `run`: only this one, 0: all.
  absl::StatusOr<std::vector<RunInfo>> Runs(int64_t run = 0);
  // Trains a cost model on all records and writes it to `file`, for TuneSettings::transfer.
  absl::StatusOr<TrainResult> Train(const std::string& features, const std::string& file);

  // What goes on stops soon: Tune keeps what it has and says `interrupted`. Nothing if nothing goes on. Any
  // thread.
  void Interrupt();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln::api
