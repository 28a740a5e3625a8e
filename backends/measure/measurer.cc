#include "backends/measure/measurer.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "backends/codegen/load.h"
#include "backends/cpu/cores.h"
#include "backends/cpu/targets.h"
#include "backends/measure/kernel.h"
#include "backends/measure/noise_floor.h"
#include "backends/measure/reference.h"
#include "backends/measure/reference_kernel.h"
#include "backends/runner/pool.h"
#include "backends/runner/timing.h"
#include "backends/workers/scratch_folder.h"
#include "lang/analysis/cost.h"
#include "lang/base/phase.h"
#include "lang/base/stopwatch.h"
#include "lang/patterns/reassociation.h"
#include "lang/text/hash.h"
#include "lang/text/serialize.h"
#include "search/measure/noise.h"

namespace kiln {
namespace {

constexpr char kSymbol[] = "kernel";
constexpr double kThoroughError = 0.02, kRaceError = 0.005;  // standard error of the median
constexpr int kThoroughRuns = 5, kThoroughRetakes = 32;
constexpr double kMinRunSeconds = 5;
// The seconds after which timing ends, over all samples of a measurement or a race, although more samples are wanted: a
// limit for kernels with long runs.
constexpr double kEnoughSeconds = 1, kEnoughSecondsOfARace = 20;
constexpr int kRaceProcesses = 5, kDecidingProcesses = 2;
constexpr double kQuickSeconds = 0.005, kThoroughSeconds = 0.05;  // how long to wait for quiet samples
// The timing of the reference kernel at the start: kReferenceKernelTurns turns with pauses of kBetweenTurns, or one
// turn if an earlier process has stored the undisturbed time. A turn has kReferenceKernelSamples samples of 20 us. The
// shortest sample counts as the undisturbed time. If a run finds that this time was too long by the factor kDisturbed,
// it is repeated, as are runs that were submitted with the old time and end later. Results returned before stay.
constexpr int kReferenceKernelSamples = 250, kReferenceKernelTurns = 8;
constexpr absl::Duration kBetweenTurns = absl::Milliseconds(25);
constexpr double kDisturbed = 1.1;
constexpr int64_t kCachesOfConstants = 2;  // last caches that all copies of constants fill

int64_t HalfOfMemory() { return int64_t{sysconf(_SC_PHYS_PAGES)} / 2 * sysconf(_SC_PAGESIZE); }

MeasureResult Failure(absl::string_view status, std::string error) {
  return {.status = std::string(status), .error = std::move(error)};
}

MeasureResult Failure(const BuildResult& built) {
  const bool interrupted = built.status == BuildStatus::kInterrupted;
  return Failure(interrupted ? outcome::kInterrupted : outcome::kBuildFailed, built.error);
}

MeasureResult Failure(const Reference& reference) {
  if (reference.interrupted) return Failure(outcome::kInterrupted, reference.error);
  return Failure(reference.failure, absl::StrCat("the untransformed program: ", reference.error));
}

}  // namespace

class CpuMeasurer::Impl {
 public:
  absl::Status Start(const CpuMeasurerOptions& options) {
    const Phase phase("start");
    options_ = options;
    target_ = CpuTarget(options.threads);
    target_.contract = options.contract;
    target_.policies = options.policies;
    if (options_.run_bytes <= 0) options_.run_bytes = HalfOfMemory();
    auto scratch = ScratchFolder::Make();
    if (!scratch.ok()) return scratch.status();
    scratch_ = *std::move(scratch);

    const CoreShares shares = ShareCores(UsableCores(), options.threads);
    overlap_ = shares.apart;
    auto builders = BuilderPool::Start({.builder_path = options.builder_path,
                                        .cores = shares.builds,
                                        .object_folder = options.object_folder});
    if (!builders.ok()) return builders.status();
    builders_ = *std::move(builders);
    auto runners = RunnerPool::Start({.runner_path = options.runner_path, .cores = {shares.timed}});
    if (!runners.ok()) return runners.status();
    runners_ = *std::move(runners);
    references_ =
        std::make_unique<References>(ReferenceOptions{.folder = scratch_->path(),
                                                      .data_seed = options_.data_seed,
                                                      .run_seconds = options_.reference_seconds,
                                                      .run_bytes = options_.run_bytes,
                                                      .build = Build(""),
                                                      .interrupted = [this] { return WasInterrupted(); }},
                                     builders_.get(), [this](const RunRequest& run) { return Run(run); });
    return StartReferenceKernel();
  }

  void Announce(const MeasureRequest& request) { announced_.push_back(Submit(*request.scheduled)); }

  std::vector<MeasureResult> Measure(absl::Span<const MeasureRequest> requests) {
    const Stopwatch watch(&spent_);
    std::vector<Candidate> candidates = Prepare(requests);
    if (candidates.empty()) return std::vector<MeasureResult>(requests.size());
    const Phase phase("measuring");  // while later candidates are built
    for (Candidate& candidate : candidates) {
      Await(candidate);
      if (FindBuilt(candidate) && !WasInterrupted()) candidate.run = runners_->Submit(TimedRun(candidate));
    }
    std::vector<MeasureResult> results;
    for (Candidate& candidate : candidates) {
      if (candidate.run.valid()) Finish(candidate, candidate.run.get());
      results.push_back(std::move(candidate.result));
    }
    return results;
  }

  std::vector<MeasureResult> Race(absl::Span<const MeasureRequest> requests) {
    const Phase phase("race");
    const Stopwatch watch(&spent_);
    std::vector<Candidate> candidates = Prepare(requests);
    if (candidates.empty()) return std::vector<MeasureResult>(requests.size());
    std::vector<Candidate*> racing;
    for (Candidate& candidate : candidates) {
      Await(candidate);
      if (FindBuilt(candidate) && (!candidate.reference->file.empty() || Passes(candidate)))
        racing.push_back(&candidate);
    }
    RunResult raced = RunRace(racing);
    if (raced.status != RunStatus::kOk && raced.status != RunStatus::kInterrupted) {
      std::erase_if(racing, [&](Candidate* candidate) { return !Passes(*candidate); });
      raced = RunRace(racing);
    }
    for (size_t i = 0; i < racing.size(); ++i) {
      MeasureResult& result = racing[i]->result;
      result.status = std::string(RunStatusName(raced.status));
      result.error = raced.detail;
      if (raced.status != RunStatus::kOk) continue;
      result.samples = i == 0 ? raced.seconds : raced.peer_seconds[i - 1];
      result.raw_samples = i == 0 ? raced.raw_samples : raced.peer_raw_samples[i - 1];
      result.verified = true;
      result.flags = Flags(*racing[i], raced, i == 0 ? raced.preempted : raced.peer_preempted[i - 1]);
      result.flags.others = others_;  // threads of other programs that wanted the cores
      result.flags.noisy = others_ + target_.cores > CoresOfTheMachine();
    }
    std::vector<MeasureResult> results;
    for (Candidate& candidate : candidates) results.push_back(std::move(candidate.result));
    return results;
  }

  void Interrupt() {
    ++interrupts_;
    builders_->Interrupt();
    runners_->Interrupt();
  }

  MeasurerSeconds Spent() const { return {.build = built_, .run = spent_ - built_}; }

  double ReferenceRate() const {
    return reference_kernel_ ? Flops(ReferenceKernelProgram(target_)) / reference_kernel_->seconds : 0;
  }

  const Target& target() const { return target_; }
  BuilderPool& builders() { return *builders_; }

  std::vector<pid_t> pids() const {
    std::vector<pid_t> pids = builders_->builder_pids();
    for (const pid_t pid : runners_->runner_pids()) pids.push_back(pid);
    return pids;
  }

 private:
  struct Candidate {
    const MeasureRequest* request = nullptr;
    const Reference* reference = nullptr;
    std::shared_future<BuildResult> built;
    KernelObject kernel;
    RunRequest running;
    std::future<RunResult> run;
    MeasureResult result;
  };

  BuildRequest Build(std::string program) const {
    return {.program = std::move(program),
            .symbol = kSymbol,
            .contract = options_.contract,
            .policies = options_.policies,
            .limits = options_.build_limits};
  }

  absl::Status StartReferenceKernel() {
    if (!options_.reference_kernel) return absl::OkStatus();
    const Program program = ReferenceKernelProgram(target_);
    const BuildResult built = builders_->Submit(Build(Serialize(program))).get();
    if (!built.ok()) return absl::InternalError(absl::StrCat("the reference kernel: ", built.error));
    ReferenceKernel kernel{.kernel = KernelOf(program, built, kSymbol, {Tolerance{}})};
    for (KernelParam& param : kernel.kernel.params)
      if (param.role == KernelParam::kOutput) param.role = KernelParam::kWorkspace;
    noise_floor_.emplace(absl::StrCat(target_.fingerprint, kernel.kernel.shared_object),
                         options_.object_folder);
    const RunRequest turn = {
        .kernel = kernel.kernel, .timing = {.runs = kReferenceKernelSamples}, .limits = {.seconds = 60}};
    const bool was_known = noise_floor_->IsKnown();
    for (int i = 0; i < (was_known ? 1 : kReferenceKernelTurns); ++i) {
      if (i > 0) absl::SleepFor(kBetweenTurns);
      const RunResult ran = Run(turn);
      if (ran.seconds.empty()) return absl::InternalError(absl::StrCat("the reference kernel: ", ran.detail));
      noise_floor_->Saw(*std::min_element(ran.seconds.begin(), ran.seconds.end()));
    }
    kernel.seconds = noise_floor_->seconds();
    reference_kernel_ = std::move(kernel);
    return absl::OkStatus();
  }

  // Computes the references of the originals and starts the builds of all candidates. On return the first build is
  // finished; all are, if builds must not overlap with runs. Returns an empty vector after an interrupt.
  std::vector<Candidate> Prepare(absl::Span<const MeasureRequest> requests) {
    const Phase phase("build");
    started_at_ = interrupts_;
    std::vector<Candidate> candidates(requests.size());
    for (size_t i = 0; i < requests.size(); ++i) {
      candidates[i].request = &requests[i];
      candidates[i].reference = &references_->For(*requests[i].original);
      if (WasInterrupted()) return {};
    }
    for (Candidate& candidate : candidates) candidate.built = Submit(*candidate.request->scheduled);
    if (!overlap_) {
      const Stopwatch watch(&built_);
      for (const Candidate& candidate : candidates) candidate.built.wait();
      for (const std::shared_future<BuildResult>& built : announced_) built.wait();
    }
    announced_.clear();
    if (!candidates.empty()) Await(candidates.front());
    return candidates;
  }

  std::shared_future<BuildResult> Submit(const Program& scheduled) {
    BuildRequest build = Build(Serialize(scheduled));
    build.cache_key = ToString(HashOf(scheduled));
    return builders_->Submit(std::move(build));
  }

  void Await(Candidate& candidate) {
    const Stopwatch watch(&built_);
    candidate.built.wait();
  }

  bool FindBuilt(Candidate& candidate) {
    const BuildResult& built = candidate.built.get();
    if (!candidate.reference->ok()) {
      candidate.result = Failure(*candidate.reference);
      return false;
    }
    if (!built.ok()) {
      candidate.result = Failure(built);
      return false;
    }
    candidate.kernel = KernelOf(*candidate.request->scheduled, built, kSymbol,
                                candidate.reference->tolerances, candidate.reference->ranges);
    if (options_.before_run) options_.before_run(*candidate.request, &candidate.kernel);
    return true;
  }

  double SecondsFor(const Candidate& candidate) const {
    const double best = candidate.request->best_seconds;
    const double limit = std::max(options_.run_seconds, 3 * candidate.reference->seconds);
    return best > 0 ? std::min(limit, std::max(kMinRunSeconds, 50 * best)) : limit;
  }

  RunRequest RunOf(const Candidate& candidate) const {
    RunRequest run;
    run.kernel = candidate.kernel;
    run.data_seed = options_.data_seed;
    run.limits = {.seconds = SecondsFor(candidate), .bytes = options_.run_bytes};
    run.timing.enough_seconds = kEnoughSeconds;
    run.timing.max_seconds = kQuickSeconds;
    run.threads = target_.cores;
    run.timing.cold_cache = options_.cold_cache;
    if (candidate.request->in_model) run.timing.rotated_bytes = kCachesOfConstants * target_.l3_bytes;
    run.reference_kernel = reference_kernel_;
    run.reference = candidate.reference->file;
    run.stress = candidate.reference->stress;
    return run;
  }

  RunRequest TimedRun(Candidate& candidate) {
    RunRequest run = RunOf(candidate);
    const double best = candidate.request->best_seconds;
    if (candidate.request->thorough) {
      run.timing.runs = kThoroughRuns;
      run.timing.target_error = kThoroughError;
      run.timing.max_seconds = kThoroughSeconds;
      run.timing.retakes = kThoroughRetakes;
    } else if (best > 0) {
      run.timing.stop_rules = {{.after_runs = 1, .over_seconds = 5 * best},
                               {.after_runs = 2, .over_seconds = 2 * best}};
    }
    if (run.reference.empty())
      run.write_reference_to = absl::StrCat(scratch_->path(), "/candidate", ++files_);
    return candidate.running = run;
  }

  bool WasInterrupted() const { return interrupts_ != started_at_; }

  bool WasLost(const RunResult& ran) const {
    return ran.status == RunStatus::kInterrupted && !WasInterrupted();
  }

  RunResult Run(const RunRequest& run) {
    if (WasInterrupted()) return {};
    return RunAgainIfLost(run, runners_->Submit(run).get());
  }

  RunResult RunAgainIfLost(const RunRequest& run, RunResult ran) {
    if (!WasLost(ran)) return ran;
    ran = runners_->Submit(run).get();
    if (WasLost(ran)) ran.status = RunStatus::kCrashed;
    return ran;
  }

  // Tells the noise floor how fast the reference kernel was beside this run. If the request's undisturbed time turns
  // out to be too long by the factor kDisturbed, corrects the request and returns true: the run must be repeated.
  bool LearnsThatItWasDisturbed(RunRequest& request, const RunResult& ran) {
    if (!request.reference_kernel || ran.status != RunStatus::kOk) return false;
    noise_floor_->Saw(request.reference_kernel->seconds * ran.least_slowdown);
    reference_kernel_->seconds = noise_floor_->seconds();
    if (request.reference_kernel->seconds < kDisturbed * reference_kernel_->seconds) return false;
    request.reference_kernel->seconds = reference_kernel_->seconds;
    return true;
  }

  void Finish(Candidate& candidate, RunResult ran) {
    ran = RunAgainIfLost(candidate.running, std::move(ran));
    if (LearnsThatItWasDisturbed(candidate.running, ran)) ran = Run(candidate.running);
    MeasureResult& result = candidate.result;
    result.status = std::string(RunStatusName(ran.status));
    result.error = ran.detail;
    const std::string& written = candidate.running.write_reference_to;
    if (ran.status == RunStatus::kOk && !written.empty()) {
      const Checked checked =
          references_->Check(*candidate.request->original, *candidate.request->scheduled,
                             *candidate.reference, written, options_.reference_seconds + kMinRunSeconds);
      result.error = checked.error;
      if (!result.error.empty()) {
        result.status = std::string(outcome::kWrongResult);
      } else if (!checked.any) {
        result.status = std::string(WasInterrupted() ? outcome::kInterrupted : outcome::kTimedOut);
        result.error =
            "the interpreter takes too long for an element, so that nothing says whether it is right";
      }
    }
    if (!written.empty()) unlink(written.c_str());
    if (!result.ok()) return;
    result.samples = std::move(ran.seconds);
    result.raw_samples = std::move(ran.raw_samples);
    result.lower_bound = ran.lower_bound;
    result.verified = true;
    result.flags = Flags(candidate, ran, ran.preempted);
  }

  // Runs the candidate once, untimed, and checks its outputs. Returns true if they are right; otherwise the candidate's
  // result has the error.
  bool Passes(Candidate& candidate) {
    RunRequest run = TimedRun(candidate);
    run.timing = {.runs = 0};
    candidate.running = run;
    Finish(candidate, runners_->Submit(run).get());
    return candidate.result.ok();
  }

  // Times the candidates in turns, in several processes one after another. Returns all samples, or the result of the
  // first process that fails. The memory pages that a process gets make cache-bound kernels some percent slower or
  // faster, sometimes twice; with several processes, the median ignores the worst. If some processes had quiet samples,
  // only theirs count. Two processes are enough if one candidate is fastest whatever more samples say.
  RunResult RunRace(const std::vector<Candidate*>& racing) {
    if (racing.empty()) return {};
    RunRequest run = RunOf(*racing.front());
    const double wait = options_.race_seconds * static_cast<double>(racing.size());
    double seconds = wait;
    for (size_t i = 0; i < racing.size(); ++i) {
      if (i > 0) run.peers.push_back(racing[i]->kernel);
      seconds += SecondsFor(*racing[i]) + 2 * options_.race_rounds * racing[i]->request->best_seconds;
    }
    run.limits.seconds = seconds;
    run.timing.runs = (options_.race_rounds + kRaceProcesses - 1) / kRaceProcesses;
    run.timing.target_error = kRaceError;
    run.timing.enough_seconds = kEnoughSecondsOfARace / kRaceProcesses;
    run.timing.retakes = run.timing.runs * static_cast<int>(racing.size());
    run.timing.max_seconds = wait / kRaceProcesses;
    RunResult all = {.status = RunStatus::kOk};
    all.peer_seconds.resize(run.peers.size());
    all.peer_raw_samples.resize(run.peers.size());
    all.peer_preempted.resize(run.peers.size());
    int processes = 0, others = 0;
    const double start = MonotonicSeconds(), enough = std::max(kEnoughSecondsOfARace, wait);
    while (processes == 0 || (processes < kRaceProcesses && MonotonicSeconds() - start < enough)) {
      if (processes >= kDecidingProcesses && IsDecided(all.seconds, all.peer_seconds)) break;
      ++processes;
      others += OthersReadyToRun();
      others_ = (others + processes / 2) / processes;
      RunResult ran = Run(run);
      if (LearnsThatItWasDisturbed(run, ran)) ran = Run(run);
      if (ran.status != RunStatus::kOk) return ran;
      Append(ran.raw_samples, &all.raw_samples);
      Append(ran.peer_raw_samples, &all.peer_raw_samples);
      all.retaken += ran.retaken;
      all.preempted += ran.preempted;
      for (size_t i = 0; i < all.peer_preempted.size(); ++i) all.peer_preempted[i] += ran.peer_preempted[i];
      if (ran.quiet > all.quiet) {
        all.quiet = true;
        all.seconds = std::move(ran.seconds);
        all.peer_seconds = std::move(ran.peer_seconds);
      } else if (ran.quiet == all.quiet) {
        Append(ran.seconds, &all.seconds);
        Append(ran.peer_seconds, &all.peer_seconds);
      }
    }
    return all;
  }

  static void Append(const std::vector<double>& seconds, std::vector<double>* all) {
    all->insert(all->end(), seconds.begin(), seconds.end());
  }

  static void Append(const std::vector<std::vector<double>>& of_peers,
                     std::vector<std::vector<double>>* all) {
    for (size_t i = 0; i < all->size(); ++i) Append(of_peers[i], &(*all)[i]);
  }

  RecordFlags Flags(const Candidate& candidate, const RunResult& ran, int preempted) const {
    return {.threads = target_.cores,
            .contract = options_.contract,
            .reassociated = Reassociates(*candidate.request->scheduled),
            .cold = options_.cold_cache,
            .in_model = candidate.request->in_model,
            .relative = reference_kernel_.has_value(),
            .spot_checked = candidate.reference->file.empty(),
            .uninterpreted = !candidate.reference->interpreted,
            .prepare = candidate.kernel.prepare_symbol.has_value(),
            .disturbed = reference_kernel_ && !ran.quiet && !ran.lower_bound,
            .retaken = ran.retaken,
            .preempted = preempted,
            .policies = options_.policies};
  }

  CpuMeasurerOptions options_;
  Target target_;
  bool overlap_ = false;
  int files_ = 0;
  int others_ = 0;                // threads of other programs, averaged over the processes of the last race
  double spent_ = 0, built_ = 0;  // seconds
  std::vector<std::shared_future<BuildResult>> announced_;
  std::atomic<int> interrupts_{0};
  int started_at_ = 0;
  std::optional<ReferenceKernel> reference_kernel_;
  std::optional<NoiseFloor> noise_floor_;  // of the reference kernel
  std::unique_ptr<ScratchFolder> scratch_;
  std::unique_ptr<BuilderPool> builders_;
  std::unique_ptr<RunnerPool> runners_;
  std::unique_ptr<References> references_;
};

CpuMeasurer::CpuMeasurer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CpuMeasurer::CpuMeasurer(CpuMeasurer&&) noexcept = default;
CpuMeasurer::~CpuMeasurer() = default;

absl::StatusOr<CpuMeasurer> CpuMeasurer::Start(const CpuMeasurerOptions& options) {
  auto impl = std::make_unique<Impl>();
  if (absl::Status status = impl->Start(options); !status.ok()) return status;
  return CpuMeasurer(std::move(impl));
}

MeasurerSeconds CpuMeasurer::Spent() const { return impl_->Spent(); }

double CpuMeasurer::ReferenceRate() const { return impl_->ReferenceRate(); }

const Target& CpuMeasurer::target() const { return impl_->target(); }

void CpuMeasurer::Announce(const MeasureRequest& request) { impl_->Announce(request); }

std::vector<MeasureResult> CpuMeasurer::Measure(absl::Span<const MeasureRequest> requests) {
  return impl_->Measure(requests);
}

std::vector<MeasureResult> CpuMeasurer::Race(absl::Span<const MeasureRequest> candidates) {
  return impl_->Race(candidates);
}

void CpuMeasurer::Interrupt() { impl_->Interrupt(); }

BuilderPool& CpuMeasurer::builders() { return impl_->builders(); }

std::vector<pid_t> CpuMeasurer::worker_pids() const { return impl_->pids(); }

}  // namespace kiln
