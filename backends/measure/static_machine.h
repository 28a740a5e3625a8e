// Measures programs for a GPU on a machine that has none: it compiles them, and estimates their cycles.
//
// Measure builds the cubin, so that programs that ptxas refuses fail here too, and returns one sample: the cycles of
// the roofline (search/features/gpu_roofline.h) with the registers and the shared memory that ptxas reports. Race
// returns the same numbers, but also runs each program in the emulator, four times in three modes, and compares its
// outputs with those of the untransformed program on the CPU, or with the interpreter if that program is too slow to
// run. If a program fails in the emulator, or takes too long there, its result is that failure.
//
// Of a large launch, some thread blocks run with all checks: the first, the last, the middle one, and others by the
// seed. If a later launch needs the results of this launch, the other blocks run without checks. Otherwise only the
// elements that the blocks wrote are compared.
//
// A sample is cycles divided by the clock of the GPU, which is no time. The flag `static` says so, and the fingerprint
// of the target, "static-1 sm_90a h100", belongs to no machine.
//
// Equal programs get equal results, in any order. Threads: as GpuMachine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/measure/gpu_machine.h"
#include "lang/analysis/loop_nest_summary.h"
#include "search/features/gpu_roofline.h"

namespace kiln {

class StaticMachine final : public GpuMachine {
 public:
  // Starts the builders and runners. `gpu` is a target with a GPU. kInvalidArgument if it has none; also the errors of
  // GpuMachine::StartWorkers.
  static absl::StatusOr<std::unique_ptr<StaticMachine>> Start(Target gpu,
                                                              const GpuMachineOptions& options = {});

  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) override;
  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> candidates) override;
  bool RacesCheck() const override { return true; }
  MeasurerSeconds Spent() const override { return {.build = spent_}; }

 private:
  StaticMachine(Target gpu, const GpuMachineOptions& options);
  MeasureResult Estimate(const MeasureRequest& request, const BuildResult& built);
  RunRequest EmulatedRun(const Program& scheduled, const BuildResult& built, const Reference& reference,
                         const std::string& outputs) const;
  void Judge(const RunResult& ran, const MeasureRequest& request, const std::string& outputs,
             MeasureResult* result);
  static std::vector<CompiledKernel> CompiledOf(const BuildResult& built);

  GpuRoofline roofline_;
  LoopNestSummary nests_;
  double spent_ = 0;
};

}  // namespace kiln
