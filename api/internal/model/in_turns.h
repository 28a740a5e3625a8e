// Builds whole models as libraries and runs them in turns in one process, so that their times can be compared.
//
//   auto turns = InTurns::Start(options, /*threads=*/1, stop);
//   auto one = (*turns)->Add(input, {});                      // with the records of the database
//   auto other = (*turns)->Add(input, {.records = false});    // on default schedules: its peer
//   auto ran = (*turns)->Run(/*rounds=*/20, /*seconds=*/30);  // ran->seconds, ran->peer_seconds[0]
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "api/internal/model/schedules.h"
#include "backends/builder/pool.h"
#include "backends/runner/runner.h"

namespace kiln::api {

class InTurns {
 public:
  // Starts the builders, which an interrupt ends while the object lives. Errors: those of FindWorkers and StartBuilder.
  static absl::StatusOr<std::unique_ptr<InTurns>> Start(const SessionOptions& options, int threads,
                                                        Stop& stop);

  // Builds a model as one library and adds it to the programs that run. Returns its schedules. Errors: those of
  // ScheduleModel and CompileWhole.
  absl::StatusOr<ModelSchedules> Add(const Input& input, const ScheduleWishes& wishes);

  // Runs what was added, at least one model, in turns on drawn data: `rounds` times each, or fewer, as no round begins
  // after 80% of `seconds`. The limit `seconds` includes the preparation of weights. Call this function once.
  // kCancelled if interrupted; other errors: those of RunWhole.
  absl::StatusOr<RunResult> Run(int rounds, double seconds);

 private:
  InTurns(const SessionOptions& options, Stop& stop) : options_(options), stop_(stop) {}

  const SessionOptions& options_;
  Stop& stop_;
  std::string runner_;
  std::unique_ptr<BuilderPool> builders_;
  std::optional<Stop::Work> work_;
  RunRequest request_;
};

}  // namespace kiln::api
