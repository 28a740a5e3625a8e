#include "backends/measure/gpu_measurer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/gpu/driver/wanted_elements.h"
#include "backends/measure/chosen_elements.h"
#include "backends/measure/gpu_bundle.h"
#include "backends/measure/kernel.h"
#include "backends/measure/reference_kernel.h"
#include "backends/measure/this_gpu.h"
#include "backends/workers/frames.h"
#include "backends/workers/worker_process.h"
#include "lang/base/phase.h"
#include "lang/base/stopwatch.h"
#include "lang/patterns/reassociation.h"

namespace kiln {
namespace {

constexpr int kReferenceSamples = 20;
constexpr char kRepeatedRuns[] = "6";  // of a finalist
constexpr int kQuickSamples = 3, kThoroughSamples = 5;
constexpr double kThoroughError = 0.02, kRaceError = 0.005;  // standard error of the median
constexpr double kSecondsOfElements =
    2;  // of the interpreter, for a candidate without outputs to compare with
constexpr double kQuickSeconds = 0.5, kThoroughSeconds = 1, kRaceSeconds = 5;

}  // namespace

struct GpuMeasurer::Candidate {
  const MeasureRequest* request = nullptr;
  const Reference* reference = nullptr;
  KernelObject kernel = {};
  bool compared = false;  // whether its outputs are compared with anything
  bool ready = false;
  MeasureResult result = {};
};

absl::StatusOr<std::unique_ptr<GpuMeasurer>> GpuMeasurer::Start(Target gpu,
                                                                const GpuMachineOptions& options) {
  if (gpu.gpu == nullptr) return absl::InvalidArgumentError("this measurer is of a GPU");
  const Phase phase("start");
  std::unique_ptr<GpuMeasurer> measurer(new GpuMeasurer(std::move(gpu), options));
  if (absl::Status status = measurer->StartWorkers(/*runners=*/1, /*wide=*/true); !status.ok()) return status;
  if (absl::Status status = measurer->StartGpu(); !status.ok()) return status;
  if (absl::Status status = measurer->StartReferenceKernel(); !status.ok()) return status;
  return measurer;
}

absl::Status GpuMeasurer::StartGpu() {
  const auto runner = options_.gpu_runner_path.empty()
                          ? FindProgram("kiln-gpu-runner")
                          : absl::StatusOr<std::string>(options_.gpu_runner_path);
  if (!runner.ok()) return runner.status();
  const absl::StatusOr<ThisGpu> gpu = FindThisGpu(*runner);
  if (!gpu.ok()) return gpu.status();
  if (!gpu->Runs(*target_.gpu))
    return absl::FailedPreconditionError(
        absl::StrCat("the GPU of this machine, ", gpu->fingerprint, ", is no ", target_.gpu->sm));
  target_.fingerprint = gpu->fingerprint;
  auto started = RunnerPool::Start({.runner_path = *runner});
  if (!started.ok()) return started.status();
  gpu_ = *std::move(started);
  return absl::OkStatus();
}

// Builds and times the reference kernel, unless the options forbid it. The shortest of 20 samples is its undisturbed
// time.
absl::Status GpuMeasurer::StartReferenceKernel() {
  if (!options_.reference_kernel) return absl::OkStatus();
  const Program program = GpuReferenceKernelProgram();
  const BuildResult built = builders().Submit(GpuKernelBuild(target_, program, BuildOutput::kCubin)).get();
  if (!built.ok()) return absl::InternalError(absl::StrCat("the reference kernel: ", built.error));
  RunRequest run{
      .kernel = GpuKernelOf(program, built.outputs[0], built.launches, built.prepared, {Tolerance{}}),
      .timing = {.runs = kReferenceSamples},
      .limits = {.seconds = options_.run_seconds, .bytes = kGpuRunBytes}};
  const RunResult ran = Run(*gpu_, run);
  if (ran.status != RunStatus::kOk)
    return absl::FailedPreconditionError(
        absl::StrCat("the reference kernel: ", RunStatusName(ran.status), ": ", ran.detail));
  reference_kernel_ = ReferenceKernel{.kernel = std::move(run.kernel),
                                      .seconds = *std::min_element(ran.seconds.begin(), ran.seconds.end())};
  return absl::OkStatus();
}

std::vector<MeasureResult> GpuMeasurer::Measure(absl::Span<const MeasureRequest> requests) {
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

std::vector<MeasureResult> GpuMeasurer::Race(absl::Span<const MeasureRequest> requests) {
  const Stopwatch watch(&spent_);
  std::vector<Candidate> candidates = Build(requests);
  const Phase phase("race");
  std::vector<Candidate*> racing;
  for (Candidate& candidate : candidates)
    if (candidate.ready) racing.push_back(&candidate);
  for (Candidate* candidate : racing) candidate->kernel.fields.push_back({kRepeatedRunsField, kRepeatedRuns});
  RunResult raced = RunRace(racing);
  if (raced.status != RunStatus::kOk && raced.status != RunStatus::kInterrupted) {
    // Some kernel of the race failed: checks each candidate alone, drops those that fail, and repeats the race with the
    // others.
    std::erase_if(racing, [&](Candidate* candidate) { return !Passes(*candidate); });
    raced = RunRace(racing);
  }
  const bool alone = raced.status != RunStatus::kOk && raced.status != RunStatus::kInterrupted;
  for (size_t i = 0; i < racing.size(); ++i) {
    RunResult own = alone ? RunRace({racing[i]}) : raced;  // alone: one of them fails now and then
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

void GpuMeasurer::Interrupt() {
  GpuMachine::Interrupt();
  gpu_->Interrupt();
}

std::vector<GpuMeasurer::Candidate> GpuMeasurer::Build(absl::Span<const MeasureRequest> requests) {
  const Stopwatch watch(&built_);
  const Phase phase("build");
  BeginCall();
  std::vector<std::shared_future<BuildResult>> builds;
  for (const MeasureRequest& request : requests)
    builds.push_back(Submit(*request.scheduled, BuildOutput::kCubin));
  std::vector<Candidate> candidates(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    Candidate& candidate = candidates[i];
    candidate.request = &requests[i];
    const BuildResult& built = builds[i].get();
    candidate.reference = &ReferenceOf(*requests[i].original);
    if (auto obstacle = Obstacle(built, *candidate.reference)) {
      candidate.result = *std::move(obstacle);
      continue;
    }
    candidate.kernel = GpuKernelOf(*requests[i].scheduled, built.outputs[0], built.launches, built.prepared,
                                   candidate.reference->tolerances, candidate.reference->ranges);
    candidate.compared = !candidate.reference->file.empty() || WantChosen(candidate);
    candidate.result.flags.prepare = built.has_prepare;
    candidate.result.facts = FactsOf(built);
    candidate.ready = true;
  }
  return candidates;
}

// Evaluates elements of the original's outputs with the interpreter, for at most two seconds, and adds them to the
// candidate's kernel, so that the runner compares outputs with them. Returns true if there are any.
bool GpuMeasurer::WantChosen(Candidate& candidate) const {
  const Deadline end = SecondsFromNow(kSecondsOfElements);
  const Program& original = *candidate.request->original;
  const ChosenElements chosen =
      EvaluateChosen(original, *candidate.request->scheduled,
                     {.data_seed = options_.data_seed, .ranges = candidate.reference->ranges, .stop = [&] {
                        return SecondsFromNow(0) > end || WasInterrupted();
                      }});
  WantElements(chosen, original, &candidate.kernel);
  return !chosen.elements.empty();
}

RunRequest GpuMeasurer::RequestOf(const Candidate& candidate) const {
  return {.kernel = candidate.kernel,
          .data_seed = options_.data_seed,
          .limits = {.seconds = options_.run_seconds, .bytes = kGpuRunBytes},
          .reference_kernel = reference_kernel_,
          .reference = candidate.reference->file,
          .stress = candidate.reference->stress};
}

RunRequest GpuMeasurer::Timed(const Candidate& candidate) const {
  RunRequest run = RequestOf(candidate);
  const MeasureRequest& request = *candidate.request;
  run.timing = {.runs = request.thorough ? kThoroughSamples : kQuickSamples,
                .target_error = request.thorough ? kThoroughError : 0,
                .max_seconds = request.thorough ? kThoroughSeconds : kQuickSeconds};
  if (request.best_seconds > 0 && !request.thorough)
    run.timing.stop_rules = {{1, 5 * request.best_seconds}, {2, 2 * request.best_seconds}};
  return run;
}

RunResult GpuMeasurer::RunRace(const std::vector<Candidate*>& racing) {
  if (racing.empty()) return {.status = RunStatus::kOk};
  RunRequest run = RequestOf(*racing[0]);
  for (size_t i = 1; i < racing.size(); ++i) run.peers.push_back(racing[i]->kernel);
  run.timing = {.runs = options_.race_samples, .target_error = kRaceError, .max_seconds = kRaceSeconds};
  run.limits.seconds *= static_cast<double>(racing.size());
  return Run(*gpu_, run);
}

bool GpuMeasurer::Passes(Candidate& candidate) {
  RunRequest run = RequestOf(candidate);
  run.timing = {.runs = 0};
  const RunResult ran = Run(*gpu_, run);
  if (ran.status == RunStatus::kOk) return true;
  Finish(candidate, ran);
  return false;
}

void GpuMeasurer::Finish(Candidate& candidate, RunResult ran) const {
  MeasureResult& result = candidate.result;
  result.status = std::string(RunStatusName(ran.status));
  result.error = std::move(ran.detail);
  if (ran.status != RunStatus::kOk) return;
  result.samples = std::move(ran.seconds);
  result.raw_samples = std::move(ran.raw_samples);
  result.lower_bound = ran.lower_bound;
  result.verified = candidate.compared;
  result.flags.spot_checked = candidate.reference->file.empty();
  result.flags.contract = options_.contract;
  result.flags.reassociated = Reassociates(*candidate.request->scheduled);
  result.flags.uninterpreted = !candidate.reference->interpreted;
  result.flags.disturbed = !ran.quiet && !ran.lower_bound;
  result.flags.policies = options_.policies;
}

}  // namespace kiln
