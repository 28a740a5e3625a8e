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

// How the emulator runs the kernel, if a field of it says so.
std::optional<EmulationOptions> EmulationOf(const KernelObject& kernel);

// Why a runner does not run the kernel: it cannot call it, or a parameter is impossible or has more than
// `bytes`.
std::optional<KernelProblem> CheckKernel(const KernelObject& kernel, int64_t bytes);

}  // namespace kiln
