// A search as data: what to tune and how, as JSON, and what came of it, as JSON. For batches, other languages
// and other processes.
//
//   absl::StatusOr<api::Job> job = api::Job::Parse(R"({"file": "model.mlir", "trials": 200, "output":
//   "out"})"); std::cout << job->Run().json << "\n";
//
// The specification is one object. "file", or "text" with linalg as MLIR, must be there; all else has the
// default of api/tuning.h and is called as there:
//
//   "file" or "text", "name" (of a text), "function"       what to tune
//   "database", "workers"                                  where (api/session.h)
//   "trials", "seconds", "seed"                            the budget
//   "threads", "contract", "cold"                          how it is measured
//   "space", "plugins" (a list)                            what is searched
//   "strategy", "scheduler", "replay", "start", "until_roofline", "least_gain",
//   "cost_model", "features", "transfer"                   and how
//   "output"                                               the folder for exports
//
// The result is the document of `kiln tune --json` (docs/api.md) with "status": "ok", "partial" (some tasks
// have no record), "failed", "interrupted" or "nothing" (to do). Where the job cannot run at all it is
// {"status", "error", "kind"}.
//
// The same job goes on with a run of it that was interrupted, as the same `kiln tune` does.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/session.h"

namespace kiln::api {

struct JobResult {
  std::string json;
  absl::Status status;  // of the report, or why the job could not run
};

class Job {
 public:
  // A Mistake names the place in the specification, as a JSON pointer, what was found there and what was
  // wanted:
  // "/trials: "many" is given; it must be a whole number from 1 to 100000000".
  static absl::StatusOr<Job> Parse(absl::string_view json);

  // Any number of times; threads as for Session.
  JobResult Run(const Session::EventSink& events = {});
  void Interrupt();

  const Source& source() const { return source_; }
  const TuneSettings& settings() const { return settings_; }

 private:
  Job(SessionOptions options, Source source, TuneSettings settings)
      : session_(std::move(options)), source_(std::move(source)), settings_(std::move(settings)) {}
  Session session_;
  Source source_;
  TuneSettings settings_;
};

}  // namespace kiln::api
