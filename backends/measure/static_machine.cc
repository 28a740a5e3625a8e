#include "backends/measure/static_machine.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/measure/kernel.h"
#include "backends/runner/emulator/emulator.h"
#include "lang/base/phase.h"
#include "lang/base/stopwatch.h"
#include "lang/patterns/reassociation.h"

namespace kiln {
namespace {

constexpr int64_t kEmulatedAccesses =
    1'000'000;  // of a launch; a block of a product of 2048^3 has up to 10 million

MeasureResult Static(MeasureResult failure) {
  failure.flags.is_static = true;
  return failure;
}

// Returns the options of the four emulated runs that check a program: threads in order with copies at once, with late
// copies, and twice in random order. Each has another seed, which chooses the blocks of a large launch that run.
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

StaticMachine::StaticMachine(Target gpu, const GpuMachineOptions& options)
    : GpuMachine(std::move(gpu), options), roofline_(*target_.gpu) {
  target_.fingerprint = absl::StrCat("static-1 ", target_.gpu->sm, " ", target_.gpu->name);
}

absl::StatusOr<std::unique_ptr<StaticMachine>> StaticMachine::Start(Target gpu,
                                                                    const GpuMachineOptions& options) {
  if (gpu.gpu == nullptr) return absl::InvalidArgumentError("a static machine is of a GPU");
  const Phase phase("start");
  std::unique_ptr<StaticMachine> machine(new StaticMachine(std::move(gpu), options));
  if (absl::Status status = machine->StartWorkers(options.builders, /*wide=*/false); !status.ok())
    return status;
  return machine;
}

std::vector<MeasureResult> StaticMachine::Measure(absl::Span<const MeasureRequest> requests) {
  const Stopwatch watch(&spent_);
  const Phase phase("build");
  BeginCall();
  std::vector<std::shared_future<BuildResult>> builds;
  for (const MeasureRequest& request : requests)
    builds.push_back(Submit(*request.scheduled, BuildOutput::kCubin));
  std::vector<MeasureResult> results;
  for (size_t i = 0; i < requests.size(); ++i) results.push_back(Estimate(requests[i], builds[i].get()));
  return results;
}

std::vector<MeasureResult> StaticMachine::Race(absl::Span<const MeasureRequest> requests) {
  std::vector<MeasureResult> results = Measure(requests);
  const Stopwatch watch(&spent_);
  const Phase phase("emulation");
  std::vector<std::shared_future<BuildResult>> builds;
  for (const MeasureRequest& request : requests)
    builds.push_back(Submit(*request.scheduled, BuildOutput::kEmulated));
  std::vector<std::future<RunResult>> runs(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    if (!results[i].ok()) continue;
    const Reference& reference = ReferenceOf(*requests[i].original);
    const BuildResult& built = builds[i].get();
    if (auto obstacle = Obstacle(built, reference)) {
      if (!built.ok()) obstacle->error = absl::StrCat("for the emulator: ", built.error);
      results[i] = Static(*std::move(obstacle));
    } else {
      const std::string outputs = reference.file.empty() ? FileOf(i) : "";
      runs[i] = runners_->Submit(EmulatedRun(*requests[i].scheduled, built, reference, outputs));
    }
  }
  for (size_t i = 0; i < requests.size(); ++i)
    if (runs[i].valid()) Judge(runs[i].get(), requests[i], FileOf(i), &results[i]);
  return results;
}

std::vector<CompiledKernel> StaticMachine::CompiledOf(const BuildResult& built) {
  std::vector<CompiledKernel> compiled;
  for (const auto& [launch, kernel] : KernelsOf(built))
    compiled.push_back({.registers = kernel->registers,
                        .spill_bytes = kernel->spill_stores + kernel->spill_loads,
                        .stack_bytes = kernel->stack,
                        .shared_bytes = kernel->shared + launch->shared_bytes});
  return compiled;
}

MeasureResult StaticMachine::Estimate(const MeasureRequest& request, const BuildResult& built) {
  if (built.status == BuildStatus::kInterrupted) return Static(Failure(outcome::kInterrupted, built.error));
  if (!built.ok()) return Static(Failure(outcome::kBuildFailed, built.error));
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

// Returns the request that runs a built program in the emulator in all modes: the first mode as the request's kernel,
// the others as its peers. The runner writes outputs to the file `outputs`, unless the name is empty.
RunRequest StaticMachine::EmulatedRun(const Program& scheduled, const BuildResult& built,
                                      const Reference& reference, const std::string& outputs) const {
  RunRequest run;
  run.kernel = KernelOf(scheduled, built, "kernel", reference.tolerances, reference.ranges);
  run.kernel.heap_alignment = 0;
  for (const EmulationOptions& mode : EmulationsOf(built.launches, options_.data_seed)) {
    run.peers.push_back(run.kernel);
    run.peers.back().fields = {{kEmulationField, Encode(mode)}};
  }
  run.kernel = run.peers.front();
  run.peers.erase(run.peers.begin());
  run.data_seed = options_.data_seed;
  run.timing = {.runs = 0};
  run.limits = {.seconds = options_.emulation_seconds, .bytes = kGpuRunBytes};
  run.reference = reference.file;
  run.write_reference_to = outputs;
  return run;
}

// Adds the outcome of the emulated run to the candidate's result: a failure replaces it, and an interrupt resets it. If
// the original was too slow to run, compares some elements that the emulated blocks wrote with the interpreter
// (`spot_checked`). A difference gives wrong_result. If no element could be compared, the result is timed_out. A
// result that is still ok becomes `verified` and `emulated`. Deletes the file `outputs`.
void StaticMachine::Judge(const RunResult& ran, const MeasureRequest& request, const std::string& outputs,
                          MeasureResult* result) {
  const Reference& reference = ReferenceOf(*request.original);
  const bool is_slow = ran.status == RunStatus::kTimedOut;
  if (ran.status == RunStatus::kInterrupted) {
    *result = {};
  } else if (ran.status != RunStatus::kOk) {
    *result =
        Static(Failure(RunStatusName(ran.status), is_slow ? "the emulator: " + ran.detail : ran.detail));
  } else if (reference.file.empty()) {
    const Checked checked = references().Check(*request.original, *request.scheduled, reference, outputs,
                                               options_.emulation_seconds, true);
    result->flags.spot_checked = true;
    if (WasInterrupted()) {
      *result = {};
    } else if (!checked.error.empty()) {
      *result = Static(Failure(outcome::kWrongResult, checked.error));
    } else if (!checked.any) {
      *result = Static(Failure(outcome::kTimedOut, "the interpreter takes too long for an element"));
    }
  }
  unlink(outputs.c_str());
  result->verified = result->ok();
  result->flags.emulated = result->ok();
}

}  // namespace kiln
