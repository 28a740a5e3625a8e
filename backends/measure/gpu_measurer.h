// Measures programs on the GPU of this machine. Builders compile cubins, and kiln-gpu-runner checks and times them
// (backends/gpu/driver/run_on_gpu.h). Their outputs are compared with those of the untransformed program on the CPU
// (reference.h).
//
// A quick measurement has three samples, and stops after one that takes five times the best, or two that take twice the
// best. A thorough one samples until the standard error of the median is 2%. A race times all finalists in turns, in one
// process, until it is 0.5%. A kernel that does nothing but multiply and add runs before and after; if it took more than
// 1.1 of its time at the start, the flag `disturbed` says so. Times are not divided by it.
//
// A fault or a hang is the result of its program alone: the runner starts a new process (gpu_process.h). The fingerprint
// of the target is that of the GPU. The destructor leaves no process behind. Threads: one call at a time; Interrupt from
// any.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/builder/pool.h"
#include "lang/target/target.h"
#include "search/measure/measurer.h"

namespace kiln {

struct GpuMeasurerOptions {
  bool contract = true;          // of the target
  Policies policies = {};        // of the target
  int builders = 1;              // programs that are compiled at a time
  bool reference_kernel = true;  // false: no flag `disturbed`
  uint64_t data_seed = 1;
  double run_seconds = 10;        // limit of a program on the GPU
  double reference_seconds = 60;  // of the untransformed program on the CPU
  int race_samples = 20;          // of each program in a Race
  BuildLimits build_limits = {};
  std::string object_folder = {};  // as in CpuMeasurerOptions
  std::string builder_path = {}, runner_path = {},
              gpu_runner_path = {};  // empty: looks beside the executable
};

// The fingerprint of the GPU of this machine, by kiln-gpu-runner. kNotFound without a driver or a GPU, with its reason.
absl::StatusOr<std::string> GpuOfThisMachine(const std::string& gpu_runner_path = "");

class GpuMeasurer final : public Measurer {
 public:
  // Starts the workers. `gpu` is a target with a GPU. kNotFound without ptxas or a GPU; kFailedPrecondition if a worker
  // cannot be started.
  static absl::StatusOr<GpuMeasurer> Start(Target gpu, const GpuMeasurerOptions& options = {});
  GpuMeasurer(GpuMeasurer&&) noexcept;
  ~GpuMeasurer() override;

  const Target& target() const;  // with its fingerprint

  void Announce(const MeasureRequest& request) override;
  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) override;
  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> candidates) override;
  MeasurerSeconds Spent() const override;

  void Interrupt();         // as that of CpuMeasurer
  BuilderPool& builders();  // which may build other things between calls

 private:
  class Impl;
  explicit GpuMeasurer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln
