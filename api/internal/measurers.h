// Starts the measurer of a target: one that runs programs on this machine's CPU or GPU, or one that estimates them
// (static).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "api/internal/store/record.h"
#include "api/session.h"
#include "backends/measure/gpu_machine.h"
#include "lang/target/target.h"

namespace kiln::api {

struct StartedGpu {
  std::unique_ptr<GpuMachine> machine = {};
  std::string why_static = {};  // why programs are estimated; empty: they run on the GPU of this machine
};

// Starts the measurer that runs programs on this machine's GPU, if there is a GPU that can run kernels for the target.
// If there is none, or if `wants_static`, starts a StaticMachine, which estimates cycles. kFailedPrecondition if the
// driver fails or there is no kiln-gpu-runner; the message names --static. Other errors: those of GpuMeasurer::Start
// and StaticMachine::Start.
absl::StatusOr<StartedGpu> StartGpu(const Target& target, bool wants_static,
                                    const GpuMachineOptions& options);

// Says whether targets are this machine's CPU or GPU, so that their records can be measured again here. False for
// static targets. The driver of a GPU is asked once, when the first target needs it.
class ThisMachine {
 public:
  bool Is(const Target& target);

 private:
  std::optional<std::string> gpu_;  // fingerprint; empty: none
};

struct MeasurerOfRecord {
  std::unique_ptr<Measurer> measurer;
  std::function<void()> interrupt;
};
// Starts the measurer that times a record again as it was timed: with the threads, caches, contraction and policies of
// its flags. A race takes `samples` samples. Built objects are cached in `object_folder`. The record must be of this
// machine, or of another CPU.
absl::StatusOr<MeasurerOfRecord> StartMeasurerOf(const Rebuilt& record, const SessionOptions& options,
                                                 int samples, const std::string& object_folder = "");

}  // namespace kiln::api
