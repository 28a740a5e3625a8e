// Turns SpaceSettings into a function that enumerates sketches.
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
  Space space;  // empty with plugins, because their code runs only in child processes
  // Enumerates the sketches. With plugins it forks and may return kAborted
  // (api/internal/spaces/plugin_space.h).
  std::function<absl::StatusOr<Enumeration>(const Program& program, const EnumerateOptions& options)>
      enumerate;
};

// Parses the space, including the modules of plugins. If no space is given, the block modules of the plugins
// replace multi-level-tiling in the default space.
absl::StatusOr<NamedSpace> ResolveSpace(const SpaceSettings& settings, const Target& target);

}  // namespace kiln::api
