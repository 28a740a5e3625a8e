#include "backends/measure/gpu_measurer.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "backends/gpu/ptxas.h"
#include "backends/measure/kernel.h"
#include "backends/measure/reference.h"
#include "backends/measure/reference_kernel.h"
#include "backends/runner/pool.h"
#include "backends/workers/run_program.h"
#include "backends/workers/scratch_folder.h"
#include "backends/workers/worker_process.h"
#include "lang/base/phase.h"
#include "lang/base/stopwatch.h"
#include "lang/patterns/reassociation.h"
#include "lang/text/hash.h"

namespace kiln {
namespace {

constexpr char kSymbol[] = "kernel";
constexpr int64_t kRunBytes = int64_t{4} << 30;
constexpr int kReferenceSamples = 20;
constexpr int kQuickSamples = 3, kThoroughSamples = 5;
constexpr double kThoroughError = 0.02, kRaceError = 0.005;  // standard error of the median
constexpr double kQuickSeconds = 0.5, kThoroughSeconds = 1, kRaceSeconds = 5;

MeasureResult Failure(absl::string_view status, std::string error) {
  return {.status = std::string(status), .error = std::move(error)};
}

}  // namespace

absl::StatusOr<std::string> GpuOfThisMachine(const std::string& gpu_runner_path) {
  auto runner =
      gpu_runner_path.empty() ? FindProgram("kiln-gpu-runner") : absl::StatusOr<std::string>(gpu_runner_path);
  if (!runner.ok()) return runner.status();
  const auto folder = ScratchFolder::Make();
  if (!folder.ok()) return folder.status();
  const std::string output = (*folder)->path() + "/machine";
  const int status = RunProgram({*runner, "--machine"}, output);
  std::stringstream text;
  text << std::ifstream(output).rdbuf();
  constexpr absl::string_view kKey = "\"fingerprint\": \"";
  const std::string line = text.str();
  const size_t at = line.find(std::string(kKey));
  if (status != 0 || at == std::string::npos)
    return absl::NotFoundError(absl::StrCat("no GPU: ", absl::StripSuffix(line, "\n")));
  const size_t begin = at + kKey.size();
  return line.substr(begin, line.find('"', begin) - begin);
}

class GpuMeasurer::Impl {
 public:
  Impl(Target target, const GpuMeasurerOptions& options) : target_(std::move(target)), options_(options) {
    target_.contract = options.contract;
    target_.policies = options.policies;
  }

  absl::Status Start() {
    const Phase phase("start");
    if (const auto ptxas = FindPtxas(); !ptxas.ok()) return ptxas.status();
    const auto path = [](const std::string& given, auto find) {
      return given.empty() ? find() : absl::StatusOr<std::string>(given);
    };
    const auto builder = path(options_.builder_path, FindBuilder),
               runner = path(options_.runner_path, FindRunner);
    const auto gpu_runner = path(options_.gpu_runner_path, [] { return FindProgram("kiln-gpu-runner"); });
    for (const auto& found : {builder, runner, gpu_runner})
      if (!found.ok()) return found.status();
    const auto fingerprint = GpuOfThisMachine(*gpu_runner);
    if (!fingerprint.ok()) return fingerprint.status();
    target_.fingerprint = *fingerprint;
    auto scratch = ScratchFolder::Make();
    if (!scratch.ok()) return scratch.status();
    scratch_ = *std::move(scratch);
    const std::vector<std::vector<int>> cores(static_cast<size_t>(std::max(1, options_.builders)));
    auto builders = BuilderPool::Start(
        {.builder_path = *builder, .cores = cores, .object_folder = options_.object_folder});
    if (!builders.ok()) return builders.status();
    builders_ = *std::move(builders);
    auto runners = RunnerPool::Start({.runner_path = *runner});
    if (!runners.ok()) return runners.status();
    runners_ = *std::move(runners);
    auto gpu = RunnerPool::Start({.runner_path = *gpu_runner});
    if (!gpu.ok()) return gpu.status();
    gpu_ = *std::move(gpu);
    BuildRequest on_cpu{.symbol = kSymbol,
                        .contract = options_.contract,
                        .policies = options_.policies,
                        .limits = options_.build_limits};
    references_ = std::make_unique<References>(
        ReferenceOptions{.folder = scratch_->path(),
                         .data_seed = options_.data_seed,
                         .run_seconds = options_.reference_seconds,
                         .run_bytes = kRunBytes,
                         .build = std::move(on_cpu),
                         .interrupted = [this] { return WasInterrupted(); }},
        builders_.get(), [this](const RunRequest& run) { return Run(*runners_, run); });
    return StartReferenceKernel();
  }

  void Announce(const MeasureRequest& request) { Submit(*request.scheduled); }

  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) {
    const Stopwatch watch(&spent_);
    std::vector<Candidate> candidates = Build(requests);
    const Phase phase("measuring");
    std::vector<std::future<RunResult>> runs(candidates.size());
    for (size_t i = 0; i < candidates.size(); ++i)
      if (candidates[i].ready) runs[i] = gpu_->Submit(Timed(candidates[i]));
    std::vector<MeasureResult> results;
    for (size_t i = 0; i < candidates.size(); ++i) {
      Candidate& candidate = candidates[i];
      if (runs[i].valid()) {
        RunResult ran = runs[i].get();
        const bool lost = ran.status == RunStatus::kInterrupted && !WasInterrupted();
        Finish(candidate, lost ? Run(*gpu_, Timed(candidate)) : std::move(ran));
      }
      results.push_back(std::move(candidate.result));
    }
    return results;
  }

  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> requests) {
    const Stopwatch watch(&spent_);
    std::vector<Candidate> candidates = Build(requests);
    const Phase phase("race");
    std::vector<Candidate*> racing;
    for (Candidate& candidate : candidates)
      if (candidate.ready) racing.push_back(&candidate);
    RunResult raced = RunRace(racing);
    if (raced.status != RunStatus::kOk && raced.status != RunStatus::kInterrupted) {
      // One of them failed. Each is checked alone, and the others race again.
      std::erase_if(racing, [&](Candidate* candidate) { return !Passes(*candidate); });
      raced = RunRace(racing);
    }
    for (size_t i = 0; i < racing.size(); ++i) {
      RunResult own = raced;
      if (i > 0 && raced.status == RunStatus::kOk) {
        own.seconds = raced.peer_seconds[i - 1];
        own.raw_samples = raced.peer_raw_samples[i - 1];
      }
      Finish(*racing[i], std::move(own));
    }
    std::vector<MeasureResult> results;
    for (Candidate& candidate : candidates) results.push_back(std::move(candidate.result));
    return results;
  }

  void Interrupt() {
    ++interrupts_;
    builders_->Interrupt();
    runners_->Interrupt();
    gpu_->Interrupt();
  }

  MeasurerSeconds Spent() const { return {.build = built_, .run = spent_ - built_}; }
  const Target& target() const { return target_; }
  BuilderPool& builders() { return *builders_; }

 private:
  struct Candidate {
    const MeasureRequest* request = nullptr;
    const Reference* reference = nullptr;
    KernelObject kernel = {};
    bool ready = false;
    MeasureResult result = {};
  };

  // Builds and times the kernel that runs beside others.
  absl::Status StartReferenceKernel() {
    if (!options_.reference_kernel) return absl::OkStatus();
    const Program program = GpuReferenceKernelProgram();
    const BuildResult built = builders_->Submit(GpuKernelBuild(target_, program, BuildOutput::kCubin)).get();
    if (!built.ok()) return absl::InternalError(absl::StrCat("the reference kernel: ", built.error));
    RunRequest run{
        .kernel = GpuKernelOf(program, built.outputs[0], built.launches, built.prepared, {Tolerance{}}),
        .timing = {.runs = kReferenceSamples},
        .limits = {.seconds = options_.run_seconds, .bytes = kRunBytes}};
    const RunResult ran = Run(*gpu_, run);
    if (ran.status != RunStatus::kOk)
      return absl::FailedPreconditionError(
          absl::StrCat("the reference kernel: ", RunStatusName(ran.status), ": ", ran.detail));
    reference_kernel_ = ReferenceKernel{.kernel = std::move(run.kernel),
                                        .seconds = *std::min_element(ran.seconds.begin(), ran.seconds.end())};
    return absl::OkStatus();
  }

  bool WasInterrupted() const { return interrupts_ != started_at_; }

  std::shared_future<BuildResult> Submit(const Program& scheduled) {
    BuildRequest build = GpuKernelBuild(target_, scheduled, BuildOutput::kCubin);
    build.limits = options_.build_limits;
    build.cache_key = ToString(HashOf(scheduled));
    return builders_->Submit(std::move(build));
  }

  std::vector<Candidate> Build(absl::Span<const MeasureRequest> requests) {
    const Stopwatch watch(&built_);
    const Phase phase("build");
    started_at_ = interrupts_;
    std::vector<std::shared_future<BuildResult>> builds;
    for (const MeasureRequest& request : requests) builds.push_back(Submit(*request.scheduled));
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < requests.size(); ++i) {
      Candidate& candidate = candidates.emplace_back();
      candidate.request = &requests[i];
      const BuildResult& built = builds[i].get();
      candidate.reference = &references_->For(*requests[i].original);
      const Reference& reference = *candidate.reference;
      if (WasInterrupted() || reference.interrupted || built.status == BuildStatus::kInterrupted) continue;
      if (!built.ok()) {
        candidate.result = Failure(outcome::kBuildFailed, built.error);
      } else if (!reference.ok()) {
        candidate.result =
            Failure(reference.failure, absl::StrCat("the untransformed program: ", reference.error));
      } else {
        candidate.kernel = GpuKernelOf(*requests[i].scheduled, built.outputs[0], built.launches,
                                       built.prepared, reference.tolerances, reference.ranges);
        candidate.result.flags.prepare = built.has_prepare;
        candidate.ready = true;
      }
    }
    return candidates;
  }

  RunRequest RequestOf(const Candidate& candidate) const {
    return {.kernel = candidate.kernel,
            .data_seed = options_.data_seed,
            .limits = {.seconds = options_.run_seconds, .bytes = kRunBytes},
            .reference_kernel = reference_kernel_,
            .reference = candidate.reference->file};
  }

  RunRequest Timed(const Candidate& candidate) const {
    RunRequest run = RequestOf(candidate);
    const MeasureRequest& request = *candidate.request;
    run.timing = {.runs = request.thorough ? kThoroughSamples : kQuickSamples,
                  .target_error = request.thorough ? kThoroughError : 0,
                  .max_seconds = request.thorough ? kThoroughSeconds : kQuickSeconds};
    if (request.best_seconds > 0 && !request.thorough)
      run.timing.stop_rules = {{1, 5 * request.best_seconds}, {2, 2 * request.best_seconds}};
    return run;
  }

  RunResult RunRace(const std::vector<Candidate*>& racing) {
    if (racing.empty()) return {.status = RunStatus::kOk};
    RunRequest run = RequestOf(*racing[0]);
    for (size_t i = 1; i < racing.size(); ++i) run.peers.push_back(racing[i]->kernel);
    run.timing = {.runs = options_.race_samples, .target_error = kRaceError, .max_seconds = kRaceSeconds};
    run.limits.seconds *= static_cast<double>(racing.size());
    return Run(*gpu_, run);
  }

  bool Passes(Candidate& candidate) {
    RunRequest run = RequestOf(candidate);
    run.timing = {.runs = 0};
    const RunResult ran = Run(*gpu_, run);
    if (ran.status == RunStatus::kOk) return true;
    Finish(candidate, ran);
    return false;
  }

  void Finish(Candidate& candidate, RunResult ran) const {
    MeasureResult& result = candidate.result;
    result.status = std::string(RunStatusName(ran.status));
    result.error = std::move(ran.detail);
    if (ran.status != RunStatus::kOk) return;
    result.samples = std::move(ran.seconds);
    result.raw_samples = std::move(ran.raw_samples);
    result.lower_bound = ran.lower_bound;
    result.verified = !candidate.reference->file.empty();
    result.flags.contract = options_.contract;
    result.flags.reassociated = Reassociates(*candidate.request->scheduled);
    result.flags.uninterpreted = !candidate.reference->interpreted;
    result.flags.disturbed = !ran.quiet && !ran.lower_bound;
    result.flags.policies = options_.policies;
  }

  RunResult Run(RunnerPool& pool, const RunRequest& run) {
    if (WasInterrupted()) return {};
    RunResult ran = pool.Submit(run).get();
    const bool lost = ran.status == RunStatus::kInterrupted && !WasInterrupted();
    return lost ? pool.Submit(run).get() : ran;
  }

  Target target_;
  const GpuMeasurerOptions options_;
  std::unique_ptr<ScratchFolder> scratch_;
  std::unique_ptr<BuilderPool> builders_;
  std::unique_ptr<RunnerPool> runners_, gpu_;
  std::unique_ptr<References> references_;
  std::optional<ReferenceKernel> reference_kernel_;
  std::atomic<int> interrupts_ = 0;
  int started_at_ = 0;
  double spent_ = 0, built_ = 0;
};

GpuMeasurer::GpuMeasurer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GpuMeasurer::GpuMeasurer(GpuMeasurer&&) noexcept = default;
GpuMeasurer::~GpuMeasurer() = default;

absl::StatusOr<GpuMeasurer> GpuMeasurer::Start(Target gpu, const GpuMeasurerOptions& options) {
  if (gpu.gpu == nullptr) return absl::InvalidArgumentError("this measurer is of a GPU");
  auto impl = std::make_unique<Impl>(std::move(gpu), options);
  if (absl::Status status = impl->Start(); !status.ok()) return status;
  return GpuMeasurer(std::move(impl));
}

const Target& GpuMeasurer::target() const { return impl_->target(); }
void GpuMeasurer::Announce(const MeasureRequest& request) { impl_->Announce(request); }
std::vector<MeasureResult> GpuMeasurer::Measure(absl::Span<const MeasureRequest> requests) {
  return impl_->Measure(requests);
}
std::vector<MeasureResult> GpuMeasurer::Race(absl::Span<const MeasureRequest> candidates) {
  return impl_->Race(candidates);
}
MeasurerSeconds GpuMeasurer::Spent() const { return impl_->Spent(); }
void GpuMeasurer::Interrupt() { impl_->Interrupt(); }
BuilderPool& GpuMeasurer::builders() { return impl_->builders(); }

}  // namespace kiln
