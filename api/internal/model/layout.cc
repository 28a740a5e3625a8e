#include "api/internal/model/layout.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_format.h"
#include "api/internal/interval.h"
#include "api/internal/model/in_turns.h"
#include "api/internal/store/chosen_layout.h"
#include "api/internal/store/open_store.h"
#include "backends/cpu/targets.h"
#include "backends/vendor/paired_timing.h"
#include "lang/base/phase.h"
#include "lang/text/hash.h"
#include "search/database/sqlite_store.h"
#include "search/run/run_key.h"

namespace kiln::api {
namespace {

// A search with fewer than 10 trials for each task, or with a time limit below 60 seconds, does not race the layouts:
// it would not take much longer than the race.
constexpr int kLeastTrialsOfATask = 10;
constexpr double kLeastSeconds = 60;

constexpr int kRounds = 20;
constexpr double kSecondsOfRace = 30;

std::string HashOfModel(const Input& input) { return ToString(HashOf(input.program)); }

// Returns the store's row for this machine with one thread, under which choices are kept. A choice holds for all
// numbers of threads.
absl::StatusOr<RowId> ThisMachine(Store& store) {
  const Target target = CpuTarget(/*threads=*/1);
  return store.PutTarget(TargetText(target), target.fingerprint);
}

// Runs the model in both layouts, in turns. Returns how many times as long it takes with channels last as with the
// layout of its file.
absl::StatusOr<Interval> RaceInTurns(const SessionOptions& options, int threads, const Input& file,
                                     const Input& last, Stop& stop) {
  const Phase phase("race");
  if (options.log) options.log("the model runs with channels as in its file, and with channels last");
  auto turns = InTurns::Start(options, threads, stop);
  if (!turns.ok()) return turns.status();
  for (const Input* input : {&file, &last}) {
    if (auto added = (*turns)->Add(*input, {}); !added.ok()) return added.status();
  }
  const auto ran = (*turns)->Run(kRounds, kSecondsOfRace);
  if (!ran.ok()) return ran.status();
  return IntervalOf(RatioOf(ran->peer_seconds[0], ran->seconds));
}

}  // namespace

void TakeChosenLayout(const SessionOptions& options, Input* input) {
  if (!input->layout_is_open || !input->simplified.applied || !std::filesystem::exists(options.database))
    return;
  const auto store = OpenExistingStore(options.database);
  if (!store.ok()) return;
  const auto target = ThisMachine(**store);
  if (!target.ok() || !LoadLayout(**store, HashOfModel(*input), *target).value_or(false)) return;
  auto last = WithChannelsLast(*input);
  if (!last.ok() || !last->has_value()) return;
  *input = **std::move(last);
  input->notes.push_back(
      "channels come last between tasks, which was faster here; --without channels-last keeps the order of the "
      "file");
}

bool ShouldRaceLayouts(const TuneSettings& settings, size_t tasks) {
  const SpaceSettings& space = settings.space;
  return settings.target == "host" && settings.in_place && space.space.empty() && space.plugins.empty() &&
         !space.function && settings.trials >= kLeastTrialsOfATask * static_cast<double>(tasks) &&
         (settings.seconds == 0 || settings.seconds >= kLeastSeconds);
}

absl::StatusOr<std::optional<RacedLayouts>> RaceLayouts(const SessionOptions& options, int threads,
                                                        Stop& stop, Input* input) {
  if (!input->layout_is_open) return std::nullopt;
  auto last = WithChannelsLast(*input);
  if (!last.ok()) return last.status();
  if (!last->has_value()) return std::nullopt;
  const auto store = OpenStore(options.database);
  if (!store.ok()) return store.status();
  const auto target = ThisMachine(**store);
  if (!target.ok()) return target.status();
  const std::string hash = HashOfModel(*input);
  if (LoadLayout(**store, hash, *target).has_value()) return std::nullopt;
  const auto ratio = RaceInTurns(options, threads, *input, **last, stop);
  if (!ratio.ok()) return ratio.status();
  const RacedLayouts raced{.channels_last = ratio->high < 1, .ratio = *ratio};
  const std::string note = absl::StrFormat(
      "the model takes %.3f [%.3f, %.3f] times as long with channels last as with those of its file",
      ratio->median, ratio->low, ratio->high);
  if (options.log) options.log(note);
  const absl::Status saved = SaveLayout(**store, hash, *target, raced.channels_last, note);
  if (!saved.ok()) return saved;
  if (raced.channels_last) *input = **std::move(last);
  return raced;
}

}  // namespace kiln::api
