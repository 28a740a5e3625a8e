// Spaces with modules of plugins, whose code runs in child processes: a child loads the plugins, does one
// thing and ends. What a child prints goes to standard error.
//
// Where a child throws, crashes or ends without an answer, the error is kAborted and names the plugin, the
// module where one was running, and the signal or the exception's text. Call these before threads are
// started: they fork.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/target/target.h"
#include "trace/enumerate.h"

namespace kiln::api {

struct PluginSpace {
  std::vector<std::string> files;    // as the user named them
  std::vector<std::string> objects;  // ObjectOfPlugin of each
  std::string text;                  // the space; empty: the default, with modules of the plugins
  Target target;
};

// The text of the space, which parses. A space that does not is a Mistake.
absl::StatusOr<std::string> TextOfSpace(const PluginSpace& space);

// The same sketches as Enumerate gives in a process with these modules. `space` has a text.
absl::StatusOr<Enumeration> EnumerateInChild(const PluginSpace& space, const Program& program,
                                             const EnumerateOptions& options);

}  // namespace kiln::api
