// Prints what `kiln bench` and `kiln race` timed, for people.
#pragma once

#include "api/records.h"

namespace kiln::tools {

// Prints the times of the whole model if the report has them, otherwise those of each task beside its peers.
void PrintText(const api::BenchReport& report);
void PrintText(const api::RaceReport& report);

}  // namespace kiln::tools
