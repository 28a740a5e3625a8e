// Prints a report on a space, for people.
#pragma once

#include "api/records.h"

namespace kiln::tools {

// Prints the tasks as a table. For a single task, also prints its sketches (unless `summary`), what was dropped and why
// modules left blocks alone. Last come the operations that cannot be tuned.
void PrintText(const api::SpaceReport& report, bool summary);

}  // namespace kiln::tools
