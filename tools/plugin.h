// Modules of users: a C++ file, compiled on first use, or a shared object.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace kiln::tools {

// Loads FILE.cc or FILE.so, whose modules then are in the registry (modules/registry.h).
//
// A source is compiled by the compiler and flags that built Kiln. What comes out is kept in
// $XDG_CACHE_HOME/kiln (or ~/.cache/kiln) under a hash of the source, the flags and this Kiln, so the second
// use takes milliseconds. A source is one file: what it includes beside Kiln's headers is not looked at
// again. A shared object must carry the stamp of this Kiln (modules/module.h).
//
// kInvalidArgument: it does not compile (with the compiler's messages), or carries another stamp; kNotFound:
// there is no such file; kFailedPrecondition: it cannot be loaded, or the cache cannot be written.
absl::Status LoadPlugin(const std::string& path);

}  // namespace kiln::tools
