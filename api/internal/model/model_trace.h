// NAME.trace, the text that a built model leaves for people: its calls, its memory, and the trace of each task.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/building.h"
#include "api/internal/model/schedules.h"
#include "api/internal/model/whole.h"

namespace kiln::api {

std::string ModelTraceText(const Program& model, const WholeModel& whole, const ModelSchedules& schedules);

// Reads the calls and the memory of such a text. `path` is for messages. kInvalidArgument, a Mistake, with the line
// that is malformed.
absl::StatusOr<PlannedModel> ParseModelTrace(const std::string& path, absl::string_view text);

}  // namespace kiln::api
