// Objects -> one shared object that exports named functions and needs nothing but libc and libm.
//
// lld runs inside the process as a library, on files in memory and into a pipe. Measured on Zen 3 (CPU time
// for a small kernel): 1.7 ms in process, two thirds of which are the symbols of libc, and 26 ms through a
// child; a thousand links and failed ones leave the process well. Before linking, the undefined symbols of
// the objects are looked up in this process's libc and libm, so an unknown one is an error that names it, and
// libraries that nothing needs are not recorded. A weak one that no object defines stays: the loader finds
// it, or it is null. Only for objects of the machine that Kiln runs on.
//
// Thread-safe: links are serialized by a lock, for lld keeps its state in globals.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace kiln {

struct LinkOptions {
  std::vector<std::string> exports = {};  // all other symbols become local
  std::string soname = "";                // optional
  bool names_libraries = true;            // false: who loads it has libc and libm, which are not read then
  bool stays_loaded = false;              // dlclose leaves it: for code that threads may be in
  bool in_process = true;                 // false: run ld.lld-22 as a child process
};

// kInvalidArgument: an object is malformed, an export is not defined, or a symbol is defined nowhere (all are
// named). kInternal: lld failed (its message), or there are no descriptors for memory and a pipe.
absl::StatusOr<std::string> LinkShared(absl::Span<const std::string> objects, const LinkOptions& options);

}  // namespace kiln
