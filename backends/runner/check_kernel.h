// Checks the description of a kernel in a request (KernelObject) before anything is loaded.
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

// Returns the options of the emulator if the kernel's only field has its tag (kEmulationField); otherwise nullopt.
std::optional<EmulationOptions> EmulationOf(const KernelObject& kernel);

// Returns why a runner refuses a kernel: it has an unknown field, too many parameters to call it, or an invalid
// parameter or one of more than `bytes`. Returns nullopt if the runner can run the kernel.
std::optional<KernelProblem> CheckKernel(const KernelObject& kernel, int64_t bytes);

}  // namespace kiln
