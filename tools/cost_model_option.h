// --cost-model, --features and --transfer: what guesses how fast candidates are.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "search/run/tune.h"

namespace kiln::tools {

struct CostModelOption {
  std::string model = "trees", features = "ansor";
  std::string transfer;  // a file that `kiln train` wrote; empty: none
};

void AddFeatures(CLI::App& command, std::string* features);
void AddCostModelOption(CLI::App& command, CostModelOption* option);

// What the user typed that is not the default, after a space; nothing otherwise.
std::string CommandText(const CostModelOption& option);

// Sets the model and the features of a run. An error with exit code 2 for options that do not go together,
// and kInvalidArgument for a file that is no model.
absl::Status UseCostModel(const CostModelOption& option, TuneOptions* tuning);

}  // namespace kiln::tools
