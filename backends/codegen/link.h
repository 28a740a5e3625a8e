// Links objects to one shared object that exports named functions and needs only libc and libm.
//
// lld runs as a library inside the process, on files in memory and into a pipe. Measured on Zen 3 (CPU time
// for a small kernel): 1.7 ms in the process, two thirds of it for the symbols of libc, and 26 ms with a
// child process. The process survives failed links and a thousand links. Before linking, undefined symbols
// are looked up in this process's libc and libm, so that an unknown symbol is an error that names it, and
// only needed libraries are recorded. A weak symbol that no object defines remains: the loader resolves it,
// or it is null. Only for objects of the machine that Kiln runs on.
//
// Thread-safe: a lock serializes links, because lld keeps its state in globals.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace kiln {

struct LinkOptions {
  std::vector<std::string> exports = {};  // all other symbols become local
  std::string soname = "";                // optional
  bool names_libraries = true;            // false: the loading process has libc and libm
  bool stays_loaded = false;              // dlclose does not unload it: threads may run its code
  bool in_process = true;                 // false: run ld.lld-22 as a child process
};

// Links the objects and returns the bytes of a shared object. kInvalidArgument if an object is malformed, an export is
// not defined, or a symbol that is not weak is defined nowhere (all are named). kInternal if lld fails (with its
// message, unless it is a child process), or if there are no file descriptors for memory and a pipe.
absl::StatusOr<std::string> LinkShared(absl::Span<const std::string> objects, const LinkOptions& options);

}  // namespace kiln
