// Finds the machines that programs can be compiled for by name. "host" is this machine. The other CPUs are rows of one
// table in targets.cc, with typical caches. A new machine takes one row. GPUs are rows of a table in
// lang/target/gpu.cc.
//
// A CPU other than the host has no fingerprint, the key of stored timings: nothing was measured on it. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/machine.h"
#include "lang/target/target.h"

namespace kiln {

// Describes this machine's CPU as a target of the search, for programs on `threads` cores (0: all; never more than
// there are).
Target CpuTarget(int threads = 1);

// Returns the names of all targets, "host" first; GPUs come last.
std::vector<std::string> TargetNames();

// Finds a target by name. The error kInvalidArgument lists the known names. `threads` is the number of cores that
// programs may use. For "host", 0 means all cores, as does a number above theirs. For another CPU, 0 means one core,
// and any number is accepted. GPUs ignore it.
absl::StatusOr<Target> NamedTarget(const std::string& name, int threads = 1);

// Returns an error if whole models cannot be built for the target: kUnimplemented for a GPU.
absl::Status CheckBuildsModels(const Target& target);

// True if the target is this machine's CPU, so that programs for it can be measured here.
bool IsHost(const Target& target);

}  // namespace kiln
