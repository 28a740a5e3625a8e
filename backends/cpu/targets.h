// The machines that programs can be compiled for, by name. "host" is this machine. The others are rows of one
// table in targets.cc, with typical caches. A new machine takes one row.
//
// A named machine has no fingerprint: nothing was measured on it, so no record belongs to it. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/machine.h"
#include "lang/target/target.h"

namespace kiln {

// This machine, as the search sees it, for programs on `threads` cores (0: all).
Target CpuTarget(int threads = 1);

// "host" first, then the others.
std::vector<std::string> TargetNames();

// kInvalidArgument lists the names that there are. Of a machine that is not this one `threads` is taken as it
// is, and 0 is 1.
absl::StatusOr<Target> NamedTarget(const std::string& name, int threads = 1);

// Whether measurements of the target were taken here.
bool IsHost(const Target& target);

}  // namespace kiln
