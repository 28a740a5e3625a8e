// Space strings: a space as data, which the database stores and the command line takes.
//
//   space  = item { "|" item }
//   item   = "each-block" "(" module { "|" module } ")"  |  module
//   module = name { key "=" value }
//
//   each-block(auto-inline | multi-level-tiling structure=SSRSRS) | random-compute-location
//
// Modules and keys are those registered (modules/module.h); each-block takes modules of a block, the top
// level modules of a program.
#pragma once

#include "modules/module.h"

namespace kiln {

// kInvalidArgument with the column and what was expected there. `find` looks modules up.
using ModuleLookup = std::function<const ModuleEntry*(absl::string_view name)>;
absl::StatusOr<Space> ParseSpace(absl::string_view text, const ModuleLookup& find = FindModule);

// The default space of a target, as a string.
std::string DefaultSpace(const Target& target);

}  // namespace kiln
