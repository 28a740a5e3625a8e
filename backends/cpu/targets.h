// The machines that programs can be made for, by name: "host" is this one, the others stand in one table in
// targets.cc, with caches as such machines have them. A row there is all that a new one takes.
//
// A named machine has no fingerprint: nothing is measured for it, so no record is its own. Thread-safe.
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
