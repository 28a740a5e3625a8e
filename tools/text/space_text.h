// Prints a report on a space, for people.
#pragma once

#include "api/records.h"

namespace kiln::tools {

// Prints the name of the space and a table of the tasks. For a single task, also prints its sketches (unless
// `summary`), what was dropped and why modules left blocks alone. Then prints the operations that cannot be tuned, and
// for several tasks a line that names the option --task.
void PrintText(const api::SpaceReport& report, bool summary);

}  // namespace kiln::tools
