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

// Returns the options of the emulator if the kernel has exactly one field, with the tag kEmulationField, and its bytes
// can be decoded. Otherwise returns nullopt.
std::optional<EmulationOptions> EmulationOf(const KernelObject& kernel);

// Returns why a runner refuses a kernel: it has fields other than a single valid one for the emulator
// (kEmulationField), more than kMaxKernelParams parameters without a table, or a parameter with an unknown dtype, a
// negative size, data of another size, or more than `bytes` bytes. The status is kOutOfMemory for the last reason, and
// kLoadFailed for all others. Returns nullopt if the runner can run the kernel.
std::optional<KernelProblem> CheckKernel(const KernelObject& kernel, int64_t bytes);

}  // namespace kiln
