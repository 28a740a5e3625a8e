// Prints the calls, or the memory plan, of a built model for people.
#pragma once

#include "absl/strings/string_view.h"
#include "api/building.h"

namespace kiln::tools {

// Prints the calls of the model if `stage` is "calls", otherwise its memory, as `kiln show --stage` does.
void PrintText(const api::PlannedModel& model, absl::string_view stage);

}  // namespace kiln::tools
