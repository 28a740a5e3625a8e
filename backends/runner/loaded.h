// A kernel that the child process of a runner has loaded, with its buffers and functions. Private to child.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/runner/emulator/emulator.h"
#include "backends/runner/library_product.h"
#include "backends/runner/runner.h"
#include "backends/runner/timing.h"
#include "backends/workers/guard.h"

namespace kiln {

struct Failure {
  RunStatus status = RunStatus::kLoadFailed;
  std::string detail;
};
using MaybeFailure = std::optional<Failure>;

struct LoadedKernel {
  const KernelObject* object = nullptr;
  std::string name;      // prefix of messages: empty, or which peer, or the reference kernel
  bool compared = true;  // whether its outputs are compared with the reference
  int file = -1;
  std::vector<GuardedBuffer*> buffers;
  TimedKernel timed;
  void* prepare = nullptr;
  std::unique_ptr<BoundProduct> product;
  std::optional<EmulationOptions> emulation;  // if it runs in the emulator
  bool is_partial = false;                    // the emulator left some blocks out

  BoundKernel Prepare() const { return {timed.kernel.call, prepare, timed.kernel.arguments}; }
  // Run the kernel, or its prepare function, in the emulator. A failure is a fault that the emulator found, or a status
  // that is not 0. RunEmulated sets is_partial: whether the emulator left out blocks.
  MaybeFailure RunEmulated();
  MaybeFailure PrepareEmulated() const;
};

}  // namespace kiln
