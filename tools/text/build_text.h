// Prints what a build of a whole model made, for people, and how long its tasks take in it.
#pragma once

#include "api/building.h"
#include "api/running.h"

namespace kiln::tools {

// Prints a table of the tasks and what was built. If there is a `run` of the library, adds the time of each task within
// the model.
void PrintText(const api::BuildReport& report, const api::RunReport* run = nullptr);

}  // namespace kiln::tools
