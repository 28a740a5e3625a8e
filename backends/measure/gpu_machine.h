// Base class of the measurers for GPUs: builders that compile kernels, runners that compute on the CPU what candidates
// must compute (reference.h), and options.
//
// GpuMeasurer (gpu_measurer.h) times programs on the GPU of this machine. StaticMachine (static_machine.h) estimates
// cycles on a machine without a GPU. The fingerprints of their targets differ, so neither uses records of the other.
//
// The destructor leaves no process behind. Threads: one call at a time; Interrupt from any.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/builder/pool.h"
#include "backends/measure/reference.h"
#include "backends/runner/pool.h"
#include "backends/workers/scratch_folder.h"
#include "lang/target/target.h"
#include "search/measure/measurer.h"

namespace kiln {

struct GpuMachineOptions {
  bool contract = true;    // of the target
  Policies policies = {};  // of the target
  int builders = 1;        // programs that are compiled at a time
  uint64_t data_seed = 1;
  double reference_seconds = 300;  // of the untransformed program on the CPU
  BuildLimits build_limits = {};
  std::string object_folder = {};  // as in CpuMeasurerOptions
  std::string builder_path = {}, runner_path = {},
              gpu_runner_path = {};  // empty: looks beside the running executable

  // An option of StaticMachine only: the time limit in the emulator.
  double emulation_seconds = 300;  // for all modes of a program, on a busy machine

  // Options of GpuMeasurer only, which times programs on a GPU.
  bool reference_kernel = true;  // runs it before and after the samples; false: no flag `disturbed`
  double run_seconds = 10;       // limit of a program on the GPU
  int race_samples = 20;         // of each program in a Race
};

class GpuMachine : public Measurer {
 public:
  GpuMachine(const GpuMachine&) = delete;
  GpuMachine& operator=(const GpuMachine&) = delete;

  const Target& target() const { return target_; }  // with its fingerprint
  void Announce(const MeasureRequest& request) override { Submit(*request.scheduled, BuildOutput::kCubin); }

  virtual void Interrupt();                       // as that of CpuMeasurer
  BuilderPool& builders() { return *builders_; }  // which may build other things between calls

 protected:
  // Stores the options. `gpu` is a target with a GPU, still without a fingerprint, which the derived class sets.
  GpuMachine(Target gpu, GpuMachineOptions options);

  // Starts the builders, and `runners` processes that run programs on the CPU. `wide`: also runs originals with stress
  // inputs (ReferenceOptions). kNotFound without ptxas, with the places that were searched; kFailedPrecondition if a
  // worker cannot be started, or without a folder for temporary files.
  absl::Status StartWorkers(int runners, bool wide);

  std::shared_future<BuildResult> Submit(const Program& scheduled, BuildOutput output);
  const Reference& ReferenceOf(const Program& original) { return references_->For(original); }
  References& references() { return *references_; }
  // Returns the path of the file for the outputs of the request with this number in a call, in the scratch folder.
  std::string FileOf(size_t request) const { return absl::StrCat(scratch_->path(), "/outputs", request); }
  // Runs a request on a runner of the pool and waits for the result. Runs it once more if the runner died. If the
  // runner dies again, or after Interrupt, the result has the status kInterrupted.
  RunResult Run(RunnerPool& pool, const RunRequest& run) const;

  // Returns the result of a candidate that cannot run, because its build failed or its original failed; nullopt if the
  // candidate can run. After Interrupt, the status of the result is `interrupted`.
  std::optional<MeasureResult> Obstacle(const BuildResult& built, const Reference& reference) const;
  static MeasureResult Failure(absl::string_view status, std::string error);
  // Returns the launches of a build, those of the prepare phase first, each with what ptxas reports of its kernel.
  // Leaves out launches of kernels that ptxas did not report.
  static std::vector<std::pair<const Launch*, const KernelFacts*>> KernelsOf(const BuildResult& built);
  // Returns what ptxas reports of a build's kernels, such as registers and spills, with the sizes of their launches, as
  // JSON for RecordRow::facts.
  static std::string FactsOf(const BuildResult& built);

  void BeginCall() { started_at_ = interrupts_; }
  bool WasInterrupted() const { return interrupts_ != started_at_; }

  Target target_;
  const GpuMachineOptions options_;
  std::unique_ptr<RunnerPool> runners_;

 private:
  std::unique_ptr<ScratchFolder> scratch_;
  std::unique_ptr<BuilderPool> builders_;
  std::unique_ptr<References> references_;
  std::atomic<int> interrupts_ = 0;
  int started_at_ = 0;
};

// The memory limit of one run of a program, on the CPU or on the GPU: 4 GiB, in bytes.
inline constexpr int64_t kGpuRunBytes = int64_t{4} << 30;

}  // namespace kiln
