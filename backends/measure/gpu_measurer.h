// Measures programs on the GPU of this machine. Builders compile cubins, and kiln-gpu-runner checks and times them
// (backends/gpu/driver/run_on_gpu.h). The outputs of programs are compared with those of the untransformed program on
// the CPU (reference.h), or with elements that the interpreter evaluates if running the untransformed program takes too
// long.
//
// A quick measurement has three samples, or those of half a second. It stops, with a lower bound, if the first sample
// takes more than five times the request's best_seconds, or if the fastest of two takes more than twice best_seconds. A
// thorough one samples for a second, or until it has five samples and the standard error of the median is 2%. A race
// times all finalists in turns, in one process, for five seconds or until there are race_samples of each and that error
// is 0.5%. Each finalist also runs six more times with three sets of inputs in turn. Runs with equal inputs must write
// equal outputs, because a data race does not show in every run. The reference kernel, which only multiplies and adds,
// runs before and after the samples. If it took more than 1.1 of its time at the start, the flag `disturbed` is set.
// Times are not divided by its slowdown.
//
// A fault or a hang is the result of its program alone: the runner starts a new process (gpu_process.h). The
// fingerprint of the target is that of the GPU (this_gpu.h). Threads: as GpuMachine.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/measure/gpu_machine.h"

namespace kiln {

class GpuMeasurer final : public GpuMachine {
 public:
  // Starts the builders and runners, and times the reference kernel. `gpu` is a target with a GPU; kInvalidArgument if
  // it has none. kFailedPrecondition if the GPU of this machine does not run the target's kernels, or if the reference
  // kernel fails there; kInternal if the reference kernel cannot be built; also the errors of FindThisGpu and
  // GpuMachine::StartWorkers.
  static absl::StatusOr<std::unique_ptr<GpuMeasurer>> Start(Target gpu,
                                                            const GpuMachineOptions& options = {});

  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) override;
  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> candidates) override;
  bool RacesCheck() const override { return true; }  // with other inputs, several times
  MeasurerSeconds Spent() const override { return {.build = built_, .run = spent_ - built_}; }
  void Interrupt() override;

 private:
  struct Candidate;
  GpuMeasurer(Target gpu, const GpuMachineOptions& options) : GpuMachine(std::move(gpu), options) {}
  absl::Status StartGpu();
  absl::Status StartReferenceKernel();
  std::vector<Candidate> Build(absl::Span<const MeasureRequest> requests);
  bool WantChosen(Candidate& candidate) const;
  RunRequest RequestOf(const Candidate& candidate) const;
  RunRequest Timed(const Candidate& candidate) const;
  RunResult RunRace(const std::vector<Candidate*>& racing);
  bool Passes(Candidate& candidate);
  void Finish(Candidate& candidate, RunResult ran) const;

  std::unique_ptr<RunnerPool> gpu_;
  std::optional<ReferenceKernel> reference_kernel_;
  double spent_ = 0, built_ = 0;
};

}  // namespace kiln
