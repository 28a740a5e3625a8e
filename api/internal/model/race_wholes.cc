#include "api/internal/model/race_wholes.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "api/internal/interval.h"
#include "api/internal/model/run_whole.h"
#include "api/internal/model/time_whole.h"
#include "api/internal/store/chosen_records.h"
#include "api/internal/store/record.h"
#include "backends/vendor/paired_timing.h"
#include "lang/base/phase.h"
#include "lang/base/stopwatch.h"
#include "lang/text/hash.h"

namespace kiln::api {
namespace {

constexpr size_t kWholes = 3;         // wholes with records, timed call by call; records tried of a task
constexpr double kNear = 1.15;        // records that take more times as long as the fastest are left out
constexpr double kLeastShare = 0.01;  // of the whole: the tasks for which other records are tried
constexpr double kLeastGain = 0.01;   // by which another record must be faster within the whole
constexpr int kRounds = 20;
constexpr double kSecondsOfRace = 30, kPartOfMemory = 0.25;

class Race {
 public:
  Race(const WholeRaceRequest& request, Store& store) : r_(request), store_(store) {}

  absl::StatusOr<std::optional<RacedWholes>> Run() {
    const Phase phase("race");
    auto base = ScheduleModel(r_.options, r_.input, r_.target, {.chosen = false}, r_.stop);
    if (!base.ok()) return base.status();
    base_ = *std::move(base);
    if (auto status = FindRecords(); !status.ok()) return status;
    if (std::all_of(records_.begin(), records_.end(), [](const auto& list) { return list.empty(); }))
      return std::nullopt;
    auto defaults = ScheduleModel(r_.options, r_.input, r_.target, {.records = false}, r_.stop);
    if (!defaults.ok()) return defaults.status();
    defaults_ = *std::move(defaults);
    if (auto status = TimeWholes(); !status.ok()) return status;
    return RunInTurns();
  }

 private:
  // Fills records_ with the records to try for each task: the fastest, then up to two others with other programs, timed
  // with the same state of the caches, that take at most 15% longer (kNear). A task without a record gets an empty
  // list. Sets target_row_.
  absl::Status FindRecords() {
    records_.resize(base_.tasks.size());
    for (size_t t = 0; t < base_.tasks.size(); ++t) {
      const RowId fastest = base_.told[t].record;
      if (fastest == 0) continue;
      records_[t].push_back(fastest);
      const auto entry = store_.Get(fastest);
      if (!entry.ok()) return entry.status();
      target_row_ = entry->record.target;
      auto all = store_.Records(entry->record.workload, entry->record.target);
      if (!all.ok()) return all.status();
      std::sort(all->begin(), all->end(), [](const RecordRow& a, const RecordRow& b) {
        return std::pair(Seconds(a), a.id) < std::pair(Seconds(b), b.id);
      });
      std::set<std::string> programs = {entry->record.program_hash};
      for (const RecordRow& row : *all) {
        if (records_[t].size() == kWholes) break;
        const bool near = CanBeBest(row) && row.flags.caches() == entry->record.flags.caches() &&
                          Seconds(row) <= kNear * Seconds(entry->record);
        if (near && programs.insert(row.program_hash).second) records_[t].push_back(row.id);
      }
    }
    return absl::OkStatus();
  }

  // Times whole models call by call: one with the fastest records, one with default schedules, then, while there is
  // time, one with the second fastest records and one with the third fastest (of tasks that have them and take at least
  // 1% of the whole). The last one takes for each task the schedule that was fastest in the others.
  absl::Status TimeWholes() {
    const Stopwatch watch(&spent_);
    for (size_t n = 0; n < kWholes; ++n) {
      if (r_.stop.asked()) return absl::CancelledError("interrupted");
      if (n > 0 && watch.Seconds() > r_.seconds) break;
      std::vector<RowId> chosen;
      for (size_t t = 0; t < records_.size(); ++t) {
        const bool other = n < records_[t].size() && (n == 0 || IsLarge(t));
        chosen.push_back(records_[t].empty() ? 0 : records_[t][other ? n : 0]);
      }
      if (auto status = Add(std::move(chosen)); !status.ok()) return status;
      if (n > 0) continue;
      if (auto status = Add(std::vector<RowId>(records_.size())); !status.ok()) return status;
    }
    std::vector<std::vector<double>> seconds;
    for (const TimedWhole& whole : wholes_) seconds.push_back(whole.seconds);
    const std::vector<size_t> fastest = FastestInPlace(seconds);
    std::vector<RowId> chosen;
    for (size_t t = 0; t < records_.size(); ++t) chosen.push_back(chosen_[fastest[t]][t]);
    return Add(std::move(chosen));
  }

  bool IsLarge(size_t t) const {
    double all = 0;
    const std::vector<double>& seconds = wholes_[0].seconds;
    for (size_t i = 0; i < seconds.size(); ++i) all += seconds[i] * base_.told[i].occurrences;
    return seconds[t] * base_.told[t].occurrences >= kLeastShare * all;
  }

  // Times the whole model with these records, one for each task (0: the default schedule), and appends it to wholes_.
  // Does nothing if a whole with these records was timed before.
  absl::Status Add(std::vector<RowId> chosen) {
    if (std::find(chosen_.begin(), chosen_.end(), chosen) != chosen_.end()) return absl::OkStatus();
    ModelSchedules schedules = base_;
    for (size_t t = 0; t < chosen.size(); ++t) {
      if (chosen[t] == base_.told[t].record) continue;
      if (chosen[t] == 0) {
        schedules.told[t] = defaults_.told[t];
        schedules.scheduled[t] = defaults_.scheduled[t];
        continue;
      }
      if (auto status = UseRecord(r_.options, chosen[t], t, &schedules); !status.ok()) return status;
    }
    auto timed = TimeWhole(r_.input, schedules, r_.target.cores, r_.runner, r_.builders, r_.stop);
    if (!timed.ok()) return timed.status();
    wholes_.push_back(*std::move(timed));
    chosen_.push_back(std::move(chosen));
    return absl::OkStatus();
  }

  // Returns the indices of the whole models that race: all, or only the first and the last if the weights and arenas of
  // all take more than a quarter of the machine's memory (kPartOfMemory).
  std::vector<size_t> Racing() const {
    const double memory = kPartOfMemory * static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                          static_cast<double>(sysconf(_SC_PAGESIZE));
    int64_t bytes = 0;
    std::vector<size_t> all;
    for (size_t w = 0; w < wholes_.size(); ++w) {
      bytes += wholes_[w].described.weights_bytes + wholes_[w].described.arena_bytes;
      all.push_back(w);
    }
    if (all.size() <= 2 || static_cast<double>(bytes) <= memory) return all;
    return {0, wholes_.size() - 1};
  }

  absl::StatusOr<std::optional<RacedWholes>> RunInTurns() {
    if (wholes_.size() < 2) return std::nullopt;
    const std::vector<size_t> racing = Racing();
    RunRequest request{.kernel = wholes_[0].kernel, .threads = r_.target.cores};
    request.timing.runs = kRounds;
    request.limits = {.seconds = kSecondsOfRace, .bytes = RunBytesOf(wholes_[0].described)};
    for (size_t i = 1; i < racing.size(); ++i) {
      request.peers.push_back(wholes_[racing[i]].kernel);
      request.limits.bytes += RunBytesOf(wholes_[racing[i]].described);
    }
    const auto ran = RunWhole(std::move(request), r_.runner, r_.stop);
    if (!ran.ok()) return ran.status();
    std::vector<std::vector<double>> seconds = {ran->seconds};
    seconds.insert(seconds.end(), ran->peer_seconds.begin(), ran->peer_seconds.end());
    size_t winner = 0;
    for (size_t i = 1; i < seconds.size(); ++i)
      if (MedianOf(seconds[i]).median < MedianOf(seconds[winner]).median) winner = i;
    if (RatioOf(seconds[0], seconds[winner]).low <= 1) winner = 0;  // not clearly faster
    const RacedWholes race{.wholes = static_cast<int>(racing.size()),
                           .seconds = IntervalOf(MedianOf(seconds[winner])),
                           .ratio = IntervalOf(RatioOf(seconds[0], seconds[winner]))};
    const std::vector<RowId>& won = chosen_[racing[winner]];
    ChosenRecords chosen;
    for (size_t t = 0; t < won.size(); ++t) {
      if (!records_[t].empty()) chosen[base_.told[t].hash] = {won[t], records_[t][0]};
    }
    const absl::Status saved = SaveChosen(store_, ToString(HashOf(r_.input.program)), target_row_, chosen);
    if (!saved.ok()) return saved;
    return race;
  }

  const WholeRaceRequest& r_;
  Store& store_;
  ModelSchedules base_, defaults_;
  std::vector<std::vector<RowId>> records_;  // by task
  RowId target_row_ = 0;
  double spent_ = 0;
  std::vector<TimedWhole> wholes_;
  std::vector<std::vector<RowId>> chosen_;  // by whole, then by task; 0: a default schedule
};

}  // namespace

absl::StatusOr<std::optional<RacedWholes>> RaceWholes(const WholeRaceRequest& request, Store& store) {
  return Race(request, store).Run();
}

std::vector<size_t> FastestInPlace(absl::Span<const std::vector<double>> seconds_of_wholes) {
  std::vector<size_t> fastest(seconds_of_wholes.empty() ? 0 : seconds_of_wholes[0].size());
  for (size_t w = 1; w < seconds_of_wholes.size(); ++w) {
    for (size_t t = 0; t < fastest.size(); ++t) {
      const double seconds = seconds_of_wholes[w][t], least = seconds_of_wholes[fastest[t]][t];
      if (seconds > 0 && seconds < (1 - kLeastGain) * least) fastest[t] = w;
    }
  }
  return fastest;
}

}  // namespace kiln::api
