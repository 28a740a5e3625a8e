// --space and --plugin, which tune and space share.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "lang/target.h"
#include "modules/space.h"

namespace kiln::tools {

struct SpaceOption {
  std::string space;  // empty: the default space of the target
  std::vector<std::string> plugins;
};

void AddSpaceOption(CLI::App& command, SpaceOption* option);

struct NamedSpace {
  std::string text;
  Space space;
};

// Loads the plugins, then parses the space. Without --space, the plugins' modules of a block stand where the
// default space has multi-level-tiling.
absl::StatusOr<NamedSpace> ResolveSpace(const SpaceOption& option, const Target& target);

}  // namespace kiln::tools
