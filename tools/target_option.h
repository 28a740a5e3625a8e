// --target: the machine that code is made for.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "backends/cpu/targets.h"

namespace kiln::tools {

// Adds --target, one of TargetNames().
CLI::Option* AddTarget(CLI::App& command, std::string* name, const std::string& help);

// For commands that take a record: the machine that is named or,
// without a name, the one that it was measured on.
absl::StatusOr<Target> TargetOfRecord(const std::string& name, const Target& measured);

// Says on standard error where fewer cores may be used than --threads asks for.
void NoteCores(int threads, const Target& target);

// "znver3, 1 core"
std::string MachineText(const Target& target);

// Of a request to a builder or an export, which make code for this machine where these are empty.
template <typename Request>
void MakeFor(const Target& target, Request* request) {
  if (IsHost(target)) return;
  request->triple = target.triple;
  request->cpu = target.cpu;
  request->features = target.features;
}

}  // namespace kiln::tools
