#include "api/internal/model/in_turns.h"

#include <utility>

#include "absl/memory/memory.h"
#include "api/internal/model/run_whole.h"
#include "api/internal/model/whole.h"
#include "api/internal/workers.h"
#include "backends/cpu/targets.h"

namespace kiln::api {

absl::StatusOr<std::unique_ptr<InTurns>> InTurns::Start(const SessionOptions& options, int threads,
                                                        Stop& stop) {
  auto turns = absl::WrapUnique(new InTurns(options, stop));
  const auto workers = FindWorkers(options.workers);
  if (!workers.ok()) return workers.status();
  turns->runner_ = workers->runner;
  auto builders = StartBuilder(options.database, options.workers);
  if (!builders.ok()) return builders.status();
  turns->builders_ = *std::move(builders);
  turns->work_.emplace(stop, [pool = turns->builders_.get()] { pool->Interrupt(); });
  turns->request_.threads = CpuTarget(threads).cores;
  return turns;
}

absl::StatusOr<ModelSchedules> InTurns::Add(const Input& input, const ScheduleWishes& wishes) {
  auto schedules = ScheduleModel(options_, input, CpuTarget(request_.threads), wishes, stop_);
  if (!schedules.ok()) return schedules.status();
  const auto whole = CompileWhole(input, *schedules, "whole", *builders_);
  if (!whole.ok()) return whole.status();
  KernelObject kernel = KernelOfModel(whole->described, whole->library.shared_object);
  request_.limits.bytes += 2 * RunBytesOf(whole->described);
  (request_.kernel.symbol.empty() ? request_.kernel : request_.peers.emplace_back()) = std::move(kernel);
  return schedules;
}

absl::StatusOr<RunResult> InTurns::Run(int rounds, double seconds) {
  if (stop_.asked()) return absl::CancelledError("interrupted");
  request_.timing.runs = rounds;
  request_.limits.seconds = seconds;
  return RunWhole(std::move(request_), runner_, stop_);
}

}  // namespace kiln::api
