// Parses space strings. A space string describes a space in the database and on the command line.
//
//   space  = item { "|" item }
//   item   = "each-block" "(" module { "|" module } ")"  |  module
//   module = name { key "=" value }
//
//   each-block(auto-inline | multi-level-tiling structure=SSRSRS) | random-compute-location
//
// Names and keys are those that KILN_MODULE registered (modules/module.h). `each-block` takes modules of one
// block; all other items are modules of a whole program.
#pragma once

#include "modules/module.h"

namespace kiln {

// ParseSpace returns the space that a space string describes; `find` looks up its modules. A kInvalidArgument
// error names the line and column, and what was expected there.
using ModuleLookup = std::function<const ModuleEntry*(absl::string_view name)>;
absl::StatusOr<Space> ParseSpace(absl::string_view text, const ModuleLookup& find = FindModule);

// Returns the space string with each item that is a named space (such as cpu) replaced by the items that it stands for
// on the target. Named spaces within these items stay. The text must parse. Modules that are not registered here stay
// as they are.
std::string ExpandSpace(absl::string_view text, const Target& target);

// Returns the default space of a target: the one that has the target's name, which is a valid space string. Returns ""
// if no space has this name.
std::string DefaultSpace(const Target& target);

}  // namespace kiln
