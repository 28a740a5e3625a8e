// Implements Session::Tune, which searches fast schedules for the loaded tasks.
#pragma once

#include "absl/status/statusor.h"
#include "api/internal/input.h"
#include "api/internal/stop.h"
#include "api/session.h"

namespace kiln::api {

struct TuneContext {
  const SessionOptions& options;
  const Input& input;
  const std::vector<TaskInfo>& tasks;
  Stop& stop;
};

absl::StatusOr<TuneReport> RunTune(const TuneContext& context, const TuneSettings& settings,
                                   const Session::EventSink& events);

}  // namespace kiln::api
