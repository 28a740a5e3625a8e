// Prints the calls and the memory of a built model, for people.
#pragma once

#include "absl/strings/string_view.h"
#include "api/building.h"

namespace kiln::tools {

// `stage`: "calls" or "memory", as of `kiln show --stage`.
void PrintText(const api::PlannedModel& model, absl::string_view stage);

}  // namespace kiln::tools
