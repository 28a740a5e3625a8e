// How `kiln tune` searches: the strategy, when it ends, and who gets the next round.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "search/run/tune.h"

namespace kiln::tools {

struct StrategyOption {
  std::string strategy = "annealed", scheduler = "gradient", replay, start;
  double until_roofline = 0, least_gain = 0;  // percent
};

void AddStrategyOption(CLI::App& command, StrategyOption* option);

// The options that differ from the defaults, as one types them, with a leading space.
std::string TextOf(const StrategyOption& option);

// Fills what the search needs of them. Usage: `replay` without a list, or a list without `replay`. Of a file
// of traces or a database that cannot be read: the error that says where.
absl::Status Apply(const StrategyOption& option, TuneOptions* tuning);

}  // namespace kiln::tools
