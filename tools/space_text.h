// A report on a space, for people.
#pragma once

#include "api/records.h"

namespace kiln::tools {

// The tasks as a table; of one task its sketches too, and why modules left blocks alone.
void PrintText(const api::SpaceReport& report);

}  // namespace kiln::tools
