#include "api/internal/measurers.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "api/internal/store/static_results.h"
#include "api/internal/workers.h"
#include "backends/cpu/targets.h"
#include "backends/measure/gpu_measurer.h"
#include "backends/measure/measurer.h"
#include "backends/measure/static_machine.h"
#include "backends/measure/this_gpu.h"

namespace kiln::api {
namespace {

constexpr double kSecondsOfOriginal = 60;  // of the original on the CPU; beyond it, elements are compared
constexpr double kSecondsForQuiet = 2;     // how long a race waits for quiet samples, per program

template <typename M>
MeasurerOfRecord Owned(std::unique_ptr<M> measurer) {
  M* const started = measurer.get();
  return {std::move(measurer), [started] { started->Interrupt(); }};
}

}  // namespace

absl::StatusOr<StartedGpu> StartGpu(const Target& target, bool wants_static,
                                    const GpuMachineOptions& options) {
  StartedGpu started{.why_static = wants_static ? "estimates were asked for" : ""};
  if (!wants_static) {
    const absl::StatusOr<ThisGpu> gpu = FindThisGpu(options.gpu_runner_path);
    if (absl::IsNotFound(gpu.status())) {
      started.why_static = std::string(gpu.status().message());
    } else if (!gpu.ok()) {
      return absl::Status(gpu.status().code(),
                          absl::StrCat(gpu.status().message(), "; --static estimates cycles instead"));
    } else if (!gpu->Runs(*target.gpu)) {
      started.why_static = absl::StrCat("the GPU of this machine is another one: ", gpu->fingerprint);
    }
  }
  if (started.why_static.empty()) {
    GpuMachineOptions measuring = options;
    measuring.reference_seconds = kSecondsOfOriginal;
    auto machine = GpuMeasurer::Start(target, measuring);
    if (!machine.ok()) return machine.status();
    started.machine = *std::move(machine);
  } else {
    auto machine = StaticMachine::Start(target, options);
    if (!machine.ok()) return machine.status();
    started.machine = *std::move(machine);
  }
  return started;
}

bool ThisMachine::Is(const Target& target) {
  if (target.gpu == nullptr) return IsHost(target);
  if (target.fingerprint.empty() || StaticClockOf(target) > 0) return false;
  if (!gpu_) {
    const absl::StatusOr<ThisGpu> gpu = FindThisGpu();
    gpu_ = gpu.ok() ? gpu->fingerprint : "";
  }
  return *gpu_ == target.fingerprint;
}

absl::StatusOr<MeasurerOfRecord> StartMeasurerOf(const Rebuilt& record, const SessionOptions& options,
                                                 int samples, const std::string& object_folder) {
  const absl::StatusOr<Workers> workers = FindWorkers(options.workers);
  if (!workers.ok()) return workers.status();
  const RecordFlags& flags = record.entry.record.flags;
  if (record.target.gpu != nullptr) {
    auto measurer = GpuMeasurer::Start(record.target, {.contract = flags.contract,
                                                       .policies = flags.policies,
                                                       .object_folder = object_folder,
                                                       .builder_path = workers->builder,
                                                       .runner_path = workers->runner,
                                                       .gpu_runner_path = workers->gpu_runner,
                                                       .run_seconds = 60,
                                                       .race_samples = samples});
    if (!measurer.ok()) return measurer.status();
    return Owned(*std::move(measurer));
  }
  auto measurer = CpuMeasurer::Start({.threads = record.target.cores,
                                      .contract = flags.contract,
                                      .policies = flags.policies,
                                      .cold_cache = flags.cold,
                                      .run_seconds = 60,
                                      .race_rounds = samples,
                                      .race_seconds = kSecondsForQuiet,
                                      .object_folder = object_folder,
                                      .builder_path = workers->builder,
                                      .runner_path = workers->runner});
  if (!measurer.ok()) return measurer.status();
  return Owned(std::make_unique<CpuMeasurer>(*std::move(measurer)));
}

}  // namespace kiln::api
