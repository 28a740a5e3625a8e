#include "backends/measure/gpu_machine.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/gpu/ptxas.h"
#include "backends/measure/kernel.h"
#include "lang/text/hash.h"
#include "spdlog/spdlog.h"

namespace kiln {

GpuMachine::GpuMachine(Target gpu, GpuMachineOptions options)
    : target_(std::move(gpu)), options_(std::move(options)) {
  target_.contract = options_.contract;
  target_.policies = options_.policies;
}

absl::Status GpuMachine::StartWorkers(int runners, bool wide) {
  if (const auto ptxas = FindPtxas(); !ptxas.ok()) return ptxas.status();
  auto scratch = ScratchFolder::Make();
  if (!scratch.ok()) return scratch.status();
  scratch_ = *std::move(scratch);
  using Cores = std::vector<std::vector<int>>;
  auto started_builders =
      BuilderPool::Start({.builder_path = options_.builder_path,
                          .cores = Cores(static_cast<size_t>(std::max(1, options_.builders))),
                          .object_folder = options_.object_folder});
  if (!started_builders.ok()) return started_builders.status();
  builders_ = *std::move(started_builders);
  auto started = RunnerPool::Start(
      {.runner_path = options_.runner_path, .cores = Cores(static_cast<size_t>(std::max(1, runners)))});
  if (!started.ok()) return started.status();
  runners_ = *std::move(started);
  BuildRequest on_cpu{.symbol = "kernel",
                      .contract = options_.contract,
                      .policies = options_.policies,
                      .limits = options_.build_limits};
  references_ = std::make_unique<References>(
      ReferenceOptions{.folder = scratch_->path(),
                       .data_seed = options_.data_seed,
                       .run_seconds = options_.reference_seconds,
                       .run_bytes = kGpuRunBytes,
                       .wide = wide,
                       .build = std::move(on_cpu),
                       .interrupted = [this] { return WasInterrupted(); }},
      builders_.get(), [this](const RunRequest& run) { return Run(*runners_, run); });
  return absl::OkStatus();
}

void GpuMachine::Interrupt() {
  ++interrupts_;
  builders_->Interrupt();
  runners_->Interrupt();
}

std::shared_future<BuildResult> GpuMachine::Submit(const Program& scheduled, BuildOutput output) {
  BuildRequest build = GpuKernelBuild(target_, scheduled, output);
  build.limits = options_.build_limits;
  build.cache_key = absl::StrCat(ToString(HashOf(scheduled)), output == BuildOutput::kCubin ? "" : "e");
  return builders_->Submit(std::move(build));
}

RunResult GpuMachine::Run(RunnerPool& pool, const RunRequest& run) const {
  const auto lost = [this](const RunResult& ran) {
    return ran.status == RunStatus::kInterrupted && !WasInterrupted();
  };
  if (WasInterrupted()) return {};
  RunResult ran = pool.Submit(run).get();
  if (lost(ran)) ran = pool.Submit(run).get();
  if (lost(ran)) spdlog::error("A runner was lost twice: {}", ran.detail);
  return ran;
}

std::optional<MeasureResult> GpuMachine::Obstacle(const BuildResult& built,
                                                  const Reference& reference) const {
  if (WasInterrupted() || reference.interrupted || built.status == BuildStatus::kInterrupted)
    return MeasureResult();
  if (!built.ok()) return Failure(outcome::kBuildFailed, built.error);
  if (!reference.ok())
    return Failure(reference.failure, absl::StrCat("the untransformed program: ", reference.error));
  return std::nullopt;
}

MeasureResult GpuMachine::Failure(absl::string_view status, std::string error) {
  return {.status = std::string(status), .error = std::move(error)};
}

std::vector<std::pair<const Launch*, const KernelFacts*>> GpuMachine::KernelsOf(const BuildResult& built) {
  std::map<std::string, const KernelFacts*> facts;
  for (const KernelFacts& kernel : built.kernels) facts[kernel.name] = &kernel;
  std::vector<std::pair<const Launch*, const KernelFacts*>> kernels;
  for (const bool prepare : {true, false}) {
    for (const Launch& launch : built.launches.launches) {
      const auto found = facts.find(launch.kernel);
      if (launch.prepare == prepare && found != facts.end()) kernels.emplace_back(&launch, found->second);
    }
  }
  return kernels;
}

std::string GpuMachine::FactsOf(const BuildResult& built) {
  std::vector<std::string> kernels;
  for (const auto& [launch, kernel] : KernelsOf(built))
    kernels.push_back(absl::StrCat(
        "{\"name\":\"", kernel->name, "\",\"blocks\":", launch->blocks, ",\"threads\":", launch->threads,
        ",\"registers\":", kernel->registers, ",\"shared\":", kernel->shared + launch->shared_bytes,
        ",\"stack\":", kernel->stack, ",\"spills\":", kernel->spill_stores + kernel->spill_loads,
        ",\"barriers\":", kernel->barriers, "}"));
  return absl::StrCat("{\"kernels\":[", absl::StrJoin(kernels, ","), "],\"warnings\":", built.warnings.size(),
                      "}");
}

}  // namespace kiln
