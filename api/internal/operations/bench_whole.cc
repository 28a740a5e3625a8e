// Session::Bench of a whole model: times it with the records of its tasks in turns with default schedules.
#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/internal/model/run_whole.h"
#include "api/internal/model/schedules.h"
#include "api/internal/model/whole.h"
#include "api/internal/operations/operations.h"
#include "api/internal/workers.h"
#include "backends/cpu/targets.h"
#include "backends/export/export.h"
#include "backends/vendor/paired_timing.h"

namespace kiln::api {
namespace {

Interval Of(const MedianInterval& m) { return {m.median, m.low, m.high}; }

class WholeBench {
 public:
  WholeBench(const SessionOptions& options, const Input& input, const BenchSettings& settings, Stop& stop)
      : options_(options), input_(input), settings_(settings), stop_(stop) {}

  absl::StatusOr<WholeTimes> Run() {
    const auto workers = FindWorkers(options_.workers);
    if (!workers.ok()) return workers.status();
    auto builders = StartBuilder(options_.database, options_.workers);
    if (!builders.ok()) return builders.status();
    const Stop::Work work(stop_, [&] { (*builders)->Interrupt(); });
    WholeTimes times{.name = SafeName(input_.program.name), .threads = settings_.threads};
    RunRequest request{.threads = settings_.threads};
    request.timing.runs = settings_.rounds;
    request.limits.seconds = settings_.seconds;
    const auto tuned = Add(true, **builders, &request);
    if (!tuned.ok()) return tuned.status();
    for (const BuiltTask& task : tuned->told) times.records += task.record > 0;
    times.tasks = static_cast<int>(tuned->told.size());
    if (times.records > 0) {
      if (const auto untuned = Add(false, **builders, &request); !untuned.ok()) return untuned.status();
    }
    if (stop_.asked()) return absl::CancelledError("interrupted");
    Say("timing in turns");
    const auto ran = RunWhole(std::move(request), workers->runner, stop_);
    if (!ran.ok()) return ran.status();
    times.rounds = static_cast<int>(ran->seconds.size());
    times.seconds = Of(MedianOf(ran->seconds));
    times.disturbed = ran->preempted;
    if (times.records == 0) return times;
    const std::vector<double>& untuned = ran->peer_seconds[0];
    times.disturbed += ran->peer_preempted[0];
    times.untuned = {"untuned", Of(MedianOf(untuned)), Of(RatioOf(untuned, ran->seconds))};
    return times;
  }

 private:
  void Say(const std::string& line) const {
    if (options_.log) options_.log(line);
  }

  // Builds the whole model as one library, with records or on default schedules alone, and adds it to the programs that
  // the request times. Returns the schedules.
  absl::StatusOr<ModelSchedules> Add(bool records, BuilderPool& builders, RunRequest* request) {
    Say(records ? "building the whole" : "building the whole on default schedules");
    auto schedules =
        ScheduleModel(options_, input_, CpuTarget(settings_.threads), {.records = records}, stop_);
    if (!schedules.ok()) return schedules.status();
    const auto whole = CompileWhole(input_, *schedules, SafeName(input_.program.name), builders);
    if (!whole.ok()) return whole.status();
    KernelObject kernel = KernelOfModel(whole->described, whole->library.shared_object);
    request->limits.bytes += 2 * RunBytesOf(whole->described);
    (request->kernel.symbol.empty() ? request->kernel : request->peers.emplace_back()) = std::move(kernel);
    return schedules;
  }

  const SessionOptions& options_;
  const Input& input_;
  const BenchSettings& settings_;
  Stop& stop_;
};

}  // namespace

absl::StatusOr<BenchReport> BenchWhole(const SessionOptions& options, const Input& input,
                                       const BenchSettings& settings, Stop& stop) {
  if (!settings.task.empty() || settings.cold || !settings.peer_folders.empty())
    return Mistake(
        absl::InvalidArgumentError("a whole has no single task, no cold caches and no libraries beside it"));
  const Stop::Work work(stop);
  auto times = WholeBench(options, input, settings, stop).Run();
  if (!times.ok()) return times.status();
  return BenchReport{
      .file = input.shown, .machine = Host().fingerprint, .tasks = {}, .whole = *std::move(times)};
}

}  // namespace kiln::api
