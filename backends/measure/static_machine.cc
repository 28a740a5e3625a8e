#include "backends/measure/static_machine.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/gpu/ptxas.h"
#include "backends/measure/kernel.h"
#include "backends/measure/reference.h"
#include "backends/runner/emulator/emulator.h"
#include "backends/runner/pool.h"
#include "backends/workers/scratch_folder.h"
#include "lang/analysis/loop_nest_summary.h"
#include "lang/base/phase.h"
#include "lang/base/stopwatch.h"
#include "lang/patterns/reassociation.h"
#include "lang/text/hash.h"
#include "lang/text/serialize.h"
#include "search/features/gpu_roofline.h"

namespace kiln {
namespace {

constexpr char kSymbol[] = "kernel";
constexpr int64_t kEmulatedAccesses =
    1'000'000;  // of a launch; a block of a product of 2048^3 has up to 10 million
constexpr int64_t kRunBytes = int64_t{4} << 30;

MeasureResult Failure(absl::string_view status, std::string error) {
  MeasureResult failure{.status = std::string(status), .error = std::move(error)};
  failure.flags.is_static = true;
  return failure;
}

// The launches, those of the prepare phase first, with what ptxas found of their kernels.
std::vector<std::pair<const Launch*, const KernelFacts*>> KernelsOf(const BuildResult& built) {
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

std::vector<CompiledKernel> CompiledOf(const BuildResult& built) {
  std::vector<CompiledKernel> compiled;
  for (const auto& [launch, kernel] : KernelsOf(built))
    compiled.push_back({.registers = kernel->registers,
                        .spill_bytes = kernel->spill_stores + kernel->spill_loads,
                        .stack_bytes = kernel->stack,
                        .shared_bytes = kernel->shared + launch->shared_bytes});
  return compiled;
}

// What ptxas found, as JSON.
std::string FactsOf(const BuildResult& built) {
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

// How the emulator runs a program. Each mode chooses other blocks of a large launch.
std::vector<EmulationOptions> EmulationsOf(const LaunchList& list, uint64_t seed) {
  const auto launches = std::count_if(list.launches.begin(), list.launches.end(),
                                      [](const Launch& launch) { return !launch.prepare; });
  std::vector<EmulationOptions> all;
  for (const EmulationMode mode :
       {EmulationMode::kEager, EmulationMode::kLate, EmulationMode::kRandom, EmulationMode::kRandom})
    all.push_back(
        {.mode = mode, .seed = seed++, .most_accesses = kEmulatedAccesses, .whole_launches = launches - 1});
  return all;
}

}  // namespace

class StaticMachine::Impl {
 public:
  Impl(Target target, const StaticMachineOptions& options)
      : target_(std::move(target)), options_(options), roofline_(*target_.gpu) {
    target_.contract = options.contract;
    target_.policies = options.policies;
    target_.fingerprint = absl::StrCat("static-1 ", target_.gpu->sm, " ", target_.gpu->name);
  }

  absl::Status Start() {
    const Phase phase("start");
    if (const auto ptxas = FindPtxas(); !ptxas.ok()) return ptxas.status();
    auto scratch = ScratchFolder::Make();
    if (!scratch.ok()) return scratch.status();
    scratch_ = *std::move(scratch);
    const auto path = [](const std::string& given, auto find) {
      return given.empty() ? find() : absl::StatusOr<std::string>(given);
    };
    const auto builder = path(options_.builder_path, FindBuilder),
               runner = path(options_.runner_path, FindRunner);
    if (!builder.ok()) return builder.status();
    if (!runner.ok()) return runner.status();
    const std::vector<std::vector<int>> cores(static_cast<size_t>(std::max(1, options_.builders)));
    auto builders = BuilderPool::Start(
        {.builder_path = *builder, .cores = cores, .object_folder = options_.object_folder});
    if (!builders.ok()) return builders.status();
    builders_ = *std::move(builders);
    auto runners = RunnerPool::Start({.runner_path = *runner, .cores = cores});
    if (!runners.ok()) return runners.status();
    runners_ = *std::move(runners);
    BuildRequest on_cpu{.symbol = kSymbol,
                        .contract = options_.contract,
                        .policies = options_.policies,
                        .limits = options_.build_limits};
    references_ =
        std::make_unique<References>(ReferenceOptions{.folder = scratch_->path(),
                                                      .data_seed = options_.data_seed,
                                                      .run_seconds = options_.reference_seconds,
                                                      .run_bytes = kRunBytes,
                                                      .build = std::move(on_cpu),
                                                      .interrupted = [this] { return WasInterrupted(); }},
                                     builders_.get(), [this](const RunRequest& run) { return Run(run); });
    return absl::OkStatus();
  }

  void Announce(const MeasureRequest& request) { Submit(*request.scheduled, BuildOutput::kCubin); }

  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) {
    const Stopwatch watch(&spent_);
    const Phase phase("build");
    started_at_ = interrupts_;
    std::vector<std::shared_future<BuildResult>> builds;
    for (const MeasureRequest& request : requests)
      builds.push_back(Submit(*request.scheduled, BuildOutput::kCubin));
    std::vector<MeasureResult> results;
    for (size_t i = 0; i < requests.size(); ++i) results.push_back(Estimate(requests[i], builds[i].get()));
    return results;
  }

  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> requests) {
    std::vector<MeasureResult> results = Measure(requests);
    const Stopwatch watch(&spent_);
    const Phase phase("emulation");
    std::vector<std::shared_future<BuildResult>> builds;
    for (const MeasureRequest& request : requests)
      builds.push_back(Submit(*request.scheduled, BuildOutput::kEmulated));
    std::vector<std::future<RunResult>> runs(requests.size());
    for (size_t i = 0; i < requests.size(); ++i) {
      if (!results[i].ok()) continue;
      const Reference& reference = references_->For(*requests[i].original);
      const BuildResult& built = builds[i].get();
      if (WasInterrupted() || reference.interrupted || built.status == BuildStatus::kInterrupted) {
        results[i] = {};
      } else if (!reference.ok()) {
        results[i] = Failure(reference.failure, absl::StrCat("the untransformed program: ", reference.error));
      } else if (!built.ok()) {
        results[i] = Failure(outcome::kBuildFailed, absl::StrCat("for the emulator: ", built.error));
      } else {
        const std::string outputs =
            reference.file.empty() ? absl::StrCat(scratch_->path(), "/outputs", i) : "";
        runs[i] = runners_->Submit(EmulatedRun(*requests[i].scheduled, built, reference, outputs));
      }
    }
    for (size_t i = 0; i < requests.size(); ++i)
      if (runs[i].valid())
        Judge(runs[i].get(), requests[i], absl::StrCat(scratch_->path(), "/outputs", i), &results[i]);
    return results;
  }

  void Interrupt() {
    ++interrupts_;
    builders_->Interrupt();
    runners_->Interrupt();
  }

  MeasurerSeconds Spent() const { return {.build = spent_}; }
  const Target& target() const { return target_; }
  BuilderPool& builders() { return *builders_; }

 private:
  bool WasInterrupted() const { return interrupts_ != started_at_; }

  std::shared_future<BuildResult> Submit(const Program& scheduled, BuildOutput output) {
    BuildRequest build = GpuKernelBuild(target_, scheduled, output);
    build.limits = options_.build_limits;
    build.cache_key = absl::StrCat(ToString(HashOf(scheduled)), output == BuildOutput::kCubin ? "" : "e");
    return builders_->Submit(std::move(build));
  }

  MeasureResult Estimate(const MeasureRequest& request, const BuildResult& built) {
    if (built.status == BuildStatus::kInterrupted) return Failure(outcome::kInterrupted, built.error);
    if (!built.ok()) return Failure(outcome::kBuildFailed, built.error);
    nests_.Read(*request.scheduled);
    const double cycles = roofline_.Cycles(nests_, CompiledOf(built));
    MeasureResult result{.status = std::string(outcome::kOk),
                         .samples = {cycles / (target_.gpu->clock_ghz * 1e9)}};
    result.flags.contract = options_.contract;
    result.flags.reassociated = Reassociates(*request.scheduled);
    result.flags.prepare = built.has_prepare;
    result.flags.is_static = true;
    result.facts = FactsOf(built);
    return result;
  }

  // Runs the kernels in all modes, as peers. Writes the outputs of the last mode to a file if one is named.
  RunRequest EmulatedRun(const Program& scheduled, const BuildResult& built, const Reference& reference,
                         const std::string& outputs) const {
    RunRequest run;
    run.kernel = KernelOf(scheduled, built, kSymbol, reference.tolerances, reference.ranges);
    run.kernel.heap_alignment = 0;
    for (const EmulationOptions& mode : EmulationsOf(built.launches, options_.data_seed)) {
      run.peers.push_back(run.kernel);
      run.peers.back().fields = {{kEmulationField, Encode(mode)}};
    }
    run.kernel = run.peers.front();
    run.peers.erase(run.peers.begin());
    run.data_seed = options_.data_seed;
    run.timing = {.runs = 0};
    run.limits = {.seconds = options_.emulation_seconds, .bytes = kRunBytes};
    run.reference = reference.file;
    run.write_reference_to = outputs;
    return run;
  }

  // Without outputs of the whole original, elements that the emulated blocks wrote are compared with the interpreter.
  void Judge(const RunResult& ran, const MeasureRequest& request, const std::string& outputs,
             MeasureResult* result) {
    const Reference& reference = references_->For(*request.original);
    const bool is_slow = ran.status == RunStatus::kTimedOut;
    if (ran.status == RunStatus::kInterrupted) {
      *result = {};
    } else if (ran.status != RunStatus::kOk) {
      *result = Failure(RunStatusName(ran.status), is_slow ? "the emulator: " + ran.detail : ran.detail);
    } else if (reference.file.empty()) {
      const Checked checked = references_->Check(*request.original, *request.scheduled, reference, outputs,
                                                 options_.emulation_seconds, true);
      result->flags.spot_checked = true;
      if (WasInterrupted()) {
        *result = {};
      } else if (!checked.error.empty()) {
        *result = Failure(outcome::kWrongResult, checked.error);
      } else if (!checked.any) {
        *result = Failure(outcome::kTimedOut, "the interpreter takes too long for an element");
      }
    }
    unlink(outputs.c_str());
    result->verified = result->ok();
    result->flags.emulated = result->ok();
  }

  RunResult Run(const RunRequest& run) {
    if (WasInterrupted()) return {};
    RunResult ran = runners_->Submit(run).get();
    const bool lost = ran.status == RunStatus::kInterrupted && !WasInterrupted();
    return lost ? runners_->Submit(run).get() : ran;
  }

  Target target_;
  const StaticMachineOptions options_;
  GpuRoofline roofline_;
  LoopNestSummary nests_;
  std::unique_ptr<ScratchFolder> scratch_;
  std::unique_ptr<BuilderPool> builders_;
  std::unique_ptr<RunnerPool> runners_;
  std::unique_ptr<References> references_;
  std::atomic<int> interrupts_ = 0;
  int started_at_ = 0;
  double spent_ = 0;
};

StaticMachine::StaticMachine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StaticMachine::StaticMachine(StaticMachine&&) noexcept = default;
StaticMachine::~StaticMachine() = default;

absl::StatusOr<StaticMachine> StaticMachine::Start(Target gpu, const StaticMachineOptions& options) {
  if (gpu.gpu == nullptr) return absl::InvalidArgumentError("a static machine is of a GPU");
  auto impl = std::make_unique<Impl>(std::move(gpu), options);
  if (absl::Status status = impl->Start(); !status.ok()) return status;
  return StaticMachine(std::move(impl));
}

const Target& StaticMachine::target() const { return impl_->target(); }
void StaticMachine::Announce(const MeasureRequest& request) { impl_->Announce(request); }
std::vector<MeasureResult> StaticMachine::Measure(absl::Span<const MeasureRequest> requests) {
  return impl_->Measure(requests);
}
std::vector<MeasureResult> StaticMachine::Race(absl::Span<const MeasureRequest> candidates) {
  return impl_->Race(candidates);
}
MeasurerSeconds StaticMachine::Spent() const { return impl_->Spent(); }
void StaticMachine::Interrupt() { impl_->Interrupt(); }
BuilderPool& StaticMachine::builders() { return impl_->builders(); }

}  // namespace kiln
