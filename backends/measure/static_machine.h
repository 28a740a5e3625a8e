// Measures programs for a GPU on a machine that has none: it compiles them, and estimates their cycles.
//
// Measure builds the cubin, so that what ptxas refuses fails here too, and returns one sample: the cycles of the
// roofline (search/features/gpu_roofline.h) with the registers and the shared memory that ptxas reports. Race returns
// the same numbers, and runs each program in the emulator before, in three modes. Its outputs are compared with those
// of the untransformed program on the CPU. A program that fails there, or takes the emulator too long, is no result.
//
// Of a large launch, some thread blocks run with all checks: the first, the last, the middle one, and others by the
// seed. If a later launch needs its results, the others run without checks. Otherwise what the blocks wrote is compared.
//
// A sample is cycles divided by the clock of the GPU, which is no time. The flag `static` says so, and the fingerprint
// of the target, "static-1 sm_90a h100", belongs to no machine.
//
// Equal programs get equal results, in any order. The destructor leaves no process behind. Threads: one call at a
// time; Interrupt from any.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/builder/pool.h"
#include "lang/target/target.h"
#include "search/measure/measurer.h"

namespace kiln {

struct StaticMachineOptions {
  bool contract = true;    // of the target
  Policies policies = {};  // of the target
  int builders = 1;        // programs that are compiled at a time
  uint64_t data_seed = 1;
  double emulation_seconds = 300;  // for all modes of a program, on a busy machine
  double reference_seconds = 300;  // of the untransformed program
  BuildLimits build_limits = {};
  std::string object_folder = {};                   // as in CpuMeasurerOptions
  std::string builder_path = {}, runner_path = {};  // empty: looks beside the running executable
};

class StaticMachine final : public Measurer {
 public:
  // Starts the workers. `gpu` is a target with a GPU. kNotFound without ptxas, with the places that were searched;
  // kFailedPrecondition if a worker cannot be started.
  static absl::StatusOr<StaticMachine> Start(Target gpu, const StaticMachineOptions& options = {});
  StaticMachine(StaticMachine&&) noexcept;
  ~StaticMachine() override;

  const Target& target() const;  // with its fingerprint

  void Announce(const MeasureRequest& request) override;
  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) override;
  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> candidates) override;
  bool RacesCheck() const override { return true; }
  MeasurerSeconds Spent() const override;

  void Interrupt();         // as that of CpuMeasurer
  BuilderPool& builders();  // which may build other things between calls

 private:
  class Impl;
  explicit StaticMachine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln
