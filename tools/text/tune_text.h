// Prints the results of a search, for people.
#pragma once

#include <string>

#include "api/tuning.h"

namespace kiln::tools {

void PrintText(const api::TuneReport& report);

}  // namespace kiln::tools
