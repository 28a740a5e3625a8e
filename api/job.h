// A job is a search as data: a JSON specification of what to tune and how, and a JSON result. It serves batch systems,
// other languages and other processes.
//
//   auto job = api::Job::Parse(R"({"file": "model.mlir", "trials": 200, "output": "out"})");
//   if (job.ok()) std::cout << job->Run().json << "\n";
//
// The specification is one object. It must have either "file" or "text" with linalg in MLIR. Other keys may be left
// out. Their names and defaults are those of api/tuning.h, api/session.h ("database", "workers", "without") and
// api/model.h ("name", "function", "inputs"):
//
//   "file" or "text", "name" (of a text), "function",
//   "inputs" (a number, or names with commas)              what to tune
//   "database", "workers"                                  where (api/session.h)
//   "trials", "seconds", "seed"                            the budget
//   "target", "static", "threads", "contract", "cold",
//   "in_model", "in_place"                                 how it is measured
//   "without", names of policies                           what is switched off (docs/reference/policies.md)
//   "space", "plugins" (a list)                            what is searched
//   "strategy", "scheduler", "replay", "start", "until_roofline", "least_gain",
//   "cost_model", "features", "transfer"                   and how
//   "output"                                               the folder for exports
//
// The result is the document of `kiln tune --json` (docs/api.md) with "status": "ok", "partial" (some tasks have no
// record), "failed", "interrupted" or "nothing" (nothing to do). If the job cannot run at all, or is interrupted before
// it has a report, the result is {"status", "error", "kind"}.
//
// A job continues an interrupted run of the same job, as the same `kiln tune` does.
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
  absl::Status status;  // status of the report, or why the job could not run
};

class Job {
 public:
  // Parses the JSON specification of a job. An error in it is a Mistake (api/errors.h). The message names the place as
  // a JSON pointer, the value that stands there and the value that Kiln expects, for example
  //   job: /trials: "many" is given; it must be a whole number from 0 to 100000000
  static absl::StatusOr<Job> Parse(absl::string_view json);

  // Loads the input, runs the search or continues an interrupted one, and returns the result as JSON. A job may run
  // several times. Threads: as for Session (api/session.h).
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
