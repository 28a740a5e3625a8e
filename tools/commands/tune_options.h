// Adds the options of `kiln tune` that are settings of the search to its command.
#pragma once

#include "CLI/CLI.hpp"
#include "api/tuning.h"

namespace kiln::tools {

// Add the options of `kiln tune` that are settings of the search, in the order of the help text. Parsing stores their
// values in `settings`.
void AddBudget(CLI::App& command, api::TuneSettings* settings);
void AddMeasuring(CLI::App& command, api::TuneSettings* settings);
void AddMachine(CLI::App& command, api::TuneSettings* settings);
void AddSearch(CLI::App& command, api::TuneSettings* settings);

}  // namespace kiln::tools
