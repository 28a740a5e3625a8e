// Turns SpaceSettings into a function that enumerates sketches.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "api/internal/spaces/module_uses.h"
#include "api/tuning.h"
#include "lang/target/target.h"
#include "modules/space.h"
#include "trace/enumerate.h"

namespace kiln::api {

struct NamedSpace {
  std::string text;
  Space space;  // empty with plugins, because their code runs only in child processes
  // What the modules of the space string did in the calls of `enumerate`; empty if the space is a function.
  std::shared_ptr<ModuleUses> uses;
  // Enumerates the sketches. With plugins it forks and may return kAborted
  // (api/internal/spaces/plugin_space.h).
  std::function<absl::StatusOr<Enumeration>(const Program& program, const EnumerateOptions& options)>
      enumerate;
};

// Parses the space, including the modules of plugins. If no space is given, takes the default space. Block modules of
// plugins then come before it, after a first pass of its lemmas and inlining, so that they schedule blocks before the
// default modules do. A text that does not parse, and plugins beside a function, are a Mistake. Other errors: those of
// ObjectOfPlugin and TextOfSpace.
absl::StatusOr<NamedSpace> ResolveSpace(const SpaceSettings& settings, const Target& target);

}  // namespace kiln::api
