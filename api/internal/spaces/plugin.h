// Modules of users: a C++ file, compiled on first use, or a shared object.
//
// Code of a plugin runs in child processes alone (api/internal/spaces/plugin_space.h): there it is loaded, its
// modules are registered, and they make sketches, which come back as traces. So a plugin that throws, crashes
// or ends its process is an error that names it. It follows that a plugin may bring modules, which write down
// steps that Kiln has, but no primitive and no intrinsic: Kiln's own process, which replays, lowers and
// proves, would not know them.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace kiln::api {

// The shared object of FILE.cc or FILE.so. Runs no code of it.
//
// A source is compiled by the compiler and flags that built Kiln. What comes out is kept in
// $XDG_CACHE_HOME/kiln (or ~/.cache/kiln) under a hash of the source, the flags and this Kiln, so the second
// use takes milliseconds. A source is one file: what it includes beside Kiln's headers is not looked at
// again. A shared object must carry the stamp of this Kiln (modules/module.h).
//
// kInvalidArgument: it does not compile (with the compiler's messages), or carries another stamp; kNotFound:
// there is no such file; kFailedPrecondition: the cache cannot be written.
absl::StatusOr<std::string> ObjectOfPlugin(const std::string& path);

// Loads the object into this process, and runs what it has for that; its modules then are in the registry
// (modules/registry.h). `path`: the file that the user named.
//
// kInvalidArgument: a name that is taken, or more than modules; kFailedPrecondition: it cannot be loaded.
absl::Status LoadPlugin(const std::string& path, const std::string& object);

}  // namespace kiln::api
