// Finds the GPU of this machine and its state, as NVIDIA's driver describes them.
//
//   const absl::StatusOr<ThisGpu> gpu = FindThisGpu();
//   if (absl::IsNotFound(gpu.status())) ...    // there is no GPU
//   if (gpu->Runs(*FindGpu("h100"))) ...
//
// kiln-gpu-runner opens the driver, in a process of its own: this takes milliseconds without a GPU, and up to some
// seconds with one. The environment variable CUDA_VISIBLE_DEVICES chooses between several GPUs, as for every program.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "lang/target/gpu.h"

namespace kiln {

struct ThisGpu {
  std::string name = {};         // "NVIDIA H100 80GB HBM3"
  std::string fingerprint = {};  // of its records: "NVIDIA H100 80GB HBM3, sm_90, 132 SMs"
  int sm = 0;                    // its architecture: 90
  int driver = 0;                // the newest CUDA that the driver knows: 12040 for 12.4
  int64_t memory_bytes = 0;

  // The GPU's state at the time of the call: clocks, temperature and use; unknown if `most_clock_mhz` is 0.
  int clock_mhz = 0, most_clock_mhz = 0;  // of the SMs
  int celsius = 0, used_percent = 0;
  std::string slowed = {};  // why its clocks are low: "too hot", "power cap"; empty: nothing slows it down

  // True if this GPU has the architecture of `gpu`, so that it runs kernels compiled for `gpu`.
  bool Runs(const Gpu& gpu) const;
};

// Runs kiln-gpu-runner to find the GPU of this machine. kNotFound if there is no driver or no GPU; kFailedPrecondition
// if the driver fails, or if there is no kiln-gpu-runner. The message says why. An empty path looks for kiln-gpu-runner
// beside the executable.
absl::StatusOr<ThisGpu> FindThisGpu(const std::string& gpu_runner_path = "");

}  // namespace kiln
