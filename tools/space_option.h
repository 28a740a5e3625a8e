// --space and --plugin, which tune and space share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "lang/target/target.h"
#include "modules/space.h"
#include "trace/enumerate.h"

namespace kiln::tools {

struct SpaceOption {
  std::string space;  // empty: the default space of the target
  std::vector<std::string> plugins;
};

void AddSpaceOption(CLI::App& command, SpaceOption* option);

struct NamedSpace {
  std::string text;
  Space space;  // empty where there are plugins, whose code runs in child processes alone
  // Its sketches. With plugins it forks, and may be kAborted (tools/plugin_space.h).
  std::function<absl::StatusOr<Enumeration>(const Program& program, const EnumerateOptions& options)>
      enumerate;
};

// Parses the space, with the modules of the plugins. Without --space, the plugins' modules of a block stand
// where the default space has multi-level-tiling.
absl::StatusOr<NamedSpace> ResolveSpace(const SpaceOption& option, const Target& target);

}  // namespace kiln::tools
