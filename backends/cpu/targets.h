// The machines that programs can be compiled for, by name. "host" is this machine. The other CPUs are rows of
// one table in targets.cc, with typical caches. A new machine takes one row. GPUs are rows of
// lang/target/gpu.h.
//
// A named machine has no fingerprint: nothing was measured on it, so no record belongs to it. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/machine.h"
#include "lang/target/target.h"

namespace kiln {

// Returns the target that describes this machine to the search, for programs on `threads` cores (0: all; never more
// than there are).
Target CpuTarget(int threads = 1);

// Returns the names of all targets, "host" first; GPUs come last.
std::vector<std::string> TargetNames();

// Finds a target by name. kInvalidArgument lists the known names. For another machine than this one,
// `threads` is not limited to its cores, and 0 means 1.
absl::StatusOr<Target> NamedTarget(const std::string& name, int threads = 1);

// Checks that whole models can be built for the target. kUnimplemented for a GPU.
absl::Status CheckBuildsModels(const Target& target);

// True if the target is this machine's CPU, so that programs for it can be measured here.
bool IsHost(const Target& target);

}  // namespace kiln
