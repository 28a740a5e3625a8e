// Plugins: modules of users, in a C++ file that is compiled on first use, or in a shared object.
//
// The code of a plugin runs only in child processes (api/internal/spaces/plugin_space.h). A child loads the
// plugin, registers its modules and makes sketches, which come back as traces. If the plugin throws, crashes
// or ends its process, the error names it. Hence a plugin may bring modules, which record existing
// primitives, but no primitives or intrinsics: Kiln's own process, which replays, lowers and proves, would
// not know them.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace kiln::api {

// Returns the path of the shared object for FILE.cc or FILE.so. Does not run its code.
//
// A source is compiled with the compiler and flags that built Kiln. The result is cached in
// $XDG_CACHE_HOME/kiln (or ~/.cache/kiln) under a hash of the source, the flags and this build of Kiln, so
// the second use takes milliseconds. A source is one file: the hash does not cover files that it includes. A
// shared object must carry the stamp of this build (modules/module.h).
//
// Returns kInvalidArgument if the source does not compile (with the compiler's messages), the stamp is missing or
// differs, or the path does not end in .cc, .cpp or .so, kNotFound if there is no such file, and kFailedPrecondition if
// the compiler cannot be run or crashes, or the cache cannot be written.
absl::StatusOr<std::string> ObjectOfPlugin(const std::string& path);

// Loads the object into this process and runs its initializers, which add its modules to the registry
// (modules/registry.h). `path` is the file that the user named.
//
// Returns kInvalidArgument if a name is taken or the plugin registers more than modules, and
// kFailedPrecondition if the object cannot be loaded.
absl::Status LoadPlugin(const std::string& path, const std::string& object);

}  // namespace kiln::api
