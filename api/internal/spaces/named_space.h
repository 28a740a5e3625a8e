// SpaceSettings become something that makes sketches.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "api/tuning.h"
#include "lang/target/target.h"
#include "modules/space.h"
#include "trace/enumerate.h"

namespace kiln::api {

struct NamedSpace {
  std::string text;
  Space space;  // empty where there are plugins, whose code runs in child processes alone
  // Its sketches. With plugins it forks, and may be kAborted (api/internal/spaces/plugin_space.h).
  std::function<absl::StatusOr<Enumeration>(const Program& program, const EnumerateOptions& options)>
      enumerate;
};

// Parses the space, with the modules of the plugins. Where no space is named, the plugins' modules of a block
// stand where the default space has multi-level-tiling.
absl::StatusOr<NamedSpace> ResolveSpace(const SpaceSettings& settings, const Target& target);

}  // namespace kiln::api
