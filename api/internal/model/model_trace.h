// Prints and reads NAME.trace, a text beside a built model for people: its calls, its memory plan, and the trace of
// each task.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/building.h"
#include "api/internal/model/schedules.h"
#include "api/internal/model/whole.h"

namespace kiln::api {

std::string ModelTraceText(const Program& model, const WholeModel& whole, const ModelSchedules& schedules);

// Reads the calls and the memory plan of a model from the text of NAME.trace. `path` is for messages. A malformed line
// is kInvalidArgument, a Mistake, with its number.
absl::StatusOr<PlannedModel> ParseModelTrace(const std::string& path, absl::string_view text);

}  // namespace kiln::api
