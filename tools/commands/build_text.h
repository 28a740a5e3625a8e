// Prints what a build of a whole model made, for people.
#pragma once

#include "api/building.h"

namespace kiln::tools {

void PrintText(const api::BuildReport& report);

}  // namespace kiln::tools
