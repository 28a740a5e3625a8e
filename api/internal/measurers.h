// Starts the measurer of a target: this machine's CPU, its GPU, or a static machine.
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

// Starts the GPU of this machine, if it has one that runs kernels for the target; else, or if `wants_static`, a static
// machine. kFailedPrecondition if the driver of a GPU fails, with a cure; else errors as of GpuMachine::StartWorkers.
absl::StatusOr<StartedGpu> StartGpu(const Target& target, bool wants_static,
                                    const GpuMachineOptions& options);

// Says whether targets are this machine's CPU or GPU, so that their records can be measured again here. The driver of a
// GPU is asked once, when the first target needs it.
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
// Starts the measurer that times a record as it was timed, with so many samples in a race, and with the object folder of
// a database. The record is of this machine, or of another CPU.
absl::StatusOr<MeasurerOfRecord> StartMeasurerOf(const Rebuilt& record, const SessionOptions& options,
                                                 int samples, const std::string& object_folder = "");

}  // namespace kiln::api
