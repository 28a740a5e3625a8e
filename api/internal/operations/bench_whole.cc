// Session::Bench of a whole model: times it with the records of its tasks in turns with default schedules.
#include "api/errors.h"
#include "api/internal/interval.h"
#include "api/internal/model/in_turns.h"
#include "api/internal/operations/operations.h"
#include "backends/cpu/machine.h"
#include "backends/export/export.h"
#include "backends/vendor/paired_timing.h"

namespace kiln::api {
namespace {

class WholeBench {
 public:
  WholeBench(const SessionOptions& options, const Input& input, const BenchSettings& settings, Stop& stop)
      : options_(options), input_(input), settings_(settings), stop_(stop) {}

  absl::StatusOr<WholeTimes> Run() {
    auto turns = InTurns::Start(options_, settings_.threads, stop_);
    if (!turns.ok()) return turns.status();
    WholeTimes times{.name = SafeName(input_.program.name), .threads = settings_.threads};
    Say("building the whole");
    const auto tuned = (*turns)->Add(input_, {});
    if (!tuned.ok()) return tuned.status();
    for (const BuiltTask& task : tuned->told) times.records += task.record > 0;
    times.tasks = static_cast<int>(tuned->told.size());
    if (times.records > 0) {
      Say("building the whole on default schedules");
      if (const auto untuned = (*turns)->Add(input_, {.records = false}); !untuned.ok())
        return untuned.status();
    }
    Say("timing in turns");
    const auto ran = (*turns)->Run(settings_.rounds, settings_.seconds);
    if (!ran.ok()) return ran.status();
    times.rounds = static_cast<int>(ran->seconds.size());
    times.seconds = IntervalOf(MedianOf(ran->seconds));
    times.disturbed = ran->preempted;
    if (times.records == 0) return times;
    const std::vector<double>& untuned = ran->peer_seconds[0];
    times.disturbed += ran->peer_preempted[0];
    times.untuned = {"untuned", IntervalOf(MedianOf(untuned)), IntervalOf(RatioOf(untuned, ran->seconds))};
    return times;
  }

 private:
  void Say(const std::string& line) const {
    if (options_.log) options_.log(line);
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
