// Prints what a build of a whole model made, for people, and how long its tasks take in it.
#pragma once

#include "api/building.h"
#include "api/running.h"

namespace kiln::tools {

// `run`: of the library, with the time of each call; may be null.
void PrintText(const api::BuildReport& report, const api::RunReport* run = nullptr);

}  // namespace kiln::tools
