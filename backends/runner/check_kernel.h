// Checks the description of a kernel before anything is loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/runner/emulator/emulator.h"
#include "backends/runner/runner.h"

namespace kiln {

struct KernelProblem {
  RunStatus status = RunStatus::kLoadFailed;
  std::string detail;
};

// Returns how the emulator runs the kernel, if its only field says so; otherwise nullopt.
std::optional<EmulationOptions> EmulationOf(const KernelObject& kernel);

// Returns why a runner does not run the kernel: it cannot call it, or a parameter is impossible or has more than
// `bytes`. Nullopt if it can run it.
std::optional<KernelProblem> CheckKernel(const KernelObject& kernel, int64_t bytes);

}  // namespace kiln
