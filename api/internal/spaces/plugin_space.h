// Spaces with modules of plugins. The plugins' code runs in child processes: a child loads the plugins,
// handles one request and ends. What a child prints goes to standard error.
//
// If a child throws, crashes or ends without an answer, the error is kAborted. It names the plugin, the
// module that was running, and the signal or the exception's text. These functions fork: call them before
// threads start.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/internal/spaces/module_uses.h"
#include "lang/target/target.h"
#include "trace/enumerate.h"

namespace kiln::api {

struct PluginSpace {
  std::vector<std::string> files;    // as the user named them
  std::vector<std::string> objects;  // the shared object of each file (ObjectOfPlugin)
  std::string text;                  // empty: the modules of the plugins, then the default space
  Target target;
};

// Returns the text of the space after checking that it parses; without a text, the default space with the modules of
// the plugins. A text that does not parse is a Mistake.
absl::StatusOr<std::string> TextOfSpace(const PluginSpace& space);

// Returns the same sketches as Enumerate in a process that has these modules, and adds to `uses` what they did.
// `space` must have a text.
absl::StatusOr<Enumeration> EnumerateInChild(const PluginSpace& space, const Program& program,
                                             const EnumerateOptions& options, ModuleUses* uses);

}  // namespace kiln::api
