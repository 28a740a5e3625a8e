// The end of a run: the fastest programs race each other, and the results are collected.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/base/phase.h"
#include "lang/text/hash.h"
#include "search/measure/noise.h"
#include "search/run/tuner.h"
#include "trace/text.h"
#include "validator/proof/proof.h"

namespace kiln::internal {
namespace {

double SecondsOf(const MeasureResult& result) {
  RecordRow row;
  row.samples = result.samples;
  return result.ok() ? Seconds(row) : std::numeric_limits<double>::infinity();
}

// Returns the index of the fastest program of a race, or 0 if no program ran.
size_t WinnerOf(const std::vector<MeasureResult>& raced) {
  size_t winner = 0;
  for (size_t i = 1; i < raced.size(); ++i)
    if (SecondsOf(raced[i]) < SecondsOf(raced[winner])) winner = i;
  return winner;
}

bool IsNoisy(const MeasureResult& raced, double searched) {
  return raced.flags.noisy || !QuietOf(raced.raw_samples, raced.flags).Mostly() ||
         RaceDiffers(SecondsOf(raced), searched);
}

double QuietShare(const MeasureResult& result) {
  const Quiet quiet = QuietOf(result.raw_samples, result.flags);
  return quiet.samples == 0 ? 0 : static_cast<double>(quiet.quiet) / quiet.samples;
}

}  // namespace

// Lets programs race. While time and races are left (FinalsOptions), they race again until the winner's samples are
// mostly quiet and its time agrees with the time that the search measured. Returns the first such race, or else the
// race whose winner has the largest fraction of quiet samples. A race in which no program runs is the last; it is
// returned if it is the first or was interrupted. Sets the flag `noisy` on times that are still noisy or disagree
// (docs/decisions/0019).
std::vector<MeasureResult> Tuner::RaceUntilQuiet(const std::vector<MeasureRequest>& requests,
                                                 const std::vector<double>& searched) const {
  std::vector<MeasureResult> best;
  bool best_is_quiet = false;
  const double start = Elapsed();
  const auto may_go_on = [&](int races) {
    if (Stopped()) return false;
    if (options_.seconds > 0) return Elapsed() < options_.seconds;
    const double limit = std::max(options_.finals.seconds, options_.finals.part_of_run * Elapsed());
    return races < options_.finals.most_races && (Elapsed() - start) * (races + 1) / races < limit;
  };
  for (int races = 0; races == 0 || (!best_is_quiet && may_go_on(races)); ++races) {
    std::vector<MeasureResult> raced = measurer_.Race(requests);
    const size_t winner = WinnerOf(raced);
    if (!raced[winner].ok())
      return races == 0 || raced[winner].status == outcome::kInterrupted ? raced : best;
    const bool quiet = !IsNoisy(raced[winner], searched[winner]);
    if (best.empty() || quiet || QuietShare(raced[winner]) >= QuietShare(best[WinnerOf(best)]))
      best = std::move(raced);
    best_is_quiet = quiet;
  }
  for (size_t i = 0; i < best.size(); ++i) {
    if (best[i].ok() && IsNoisy(best[i], searched[i])) best[i].flags.noisy = true;
  }
  return best;
}

// Returns the fastest measured programs of a task, `fast_enough` times the number of finalists, sorted by the model's
// score, best first. Returns `fastest` unchanged if the model is not trained. Trains the model on new measurements
// first. The model's estimate uses all measurements, so it corrects for a program's own lucky samples.
absl::StatusOr<std::vector<const Measured*>> Tuner::ByModel(int task,
                                                            const std::vector<const Measured*>& fastest) {
  if (const absl::Status status = Learn(); !status.ok()) return status;
  if (!trained_) return fastest;
  const size_t count =
      std::min(fastest.size(), static_cast<size_t>(options_.finals.fast_enough * options_.finalists));
  FeatureBatch features;
  for (size_t i = 0; i < count; ++i) {
    const absl::StatusOr<Point> point = PointOf(*tasks_[task].space, prefilter_, fastest[i]->candidate);
    if (!point.ok()) return point.status();
    features.Append(point->features);
  }
  const auto scores = model_->Predict(features);
  if (!scores.ok()) return scores.status();
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < count; ++i) order.emplace_back(-(*scores)[i], i);
  std::sort(order.begin(), order.end());
  std::vector<const Measured*> ordered;
  for (const auto& [score, i] : order) ordered.push_back(fastest[i]);
  return ordered;
}

// Lets the finalists of a task race: its fastest programs, as many others that the model ranks best among the fast
// ones, and the fastest program of earlier runs. A program that a proof refutes, or that takes more than
// FinalsOptions::far_behind times as long as the fastest, does not race. Stores a verdict for refuted programs and for
// those that fail in the race. Returns the trials with their results. Returns no trials if fewer than two programs may
// race. If races check more than measurements (RacesCheck), one program is enough. Returns kCancelled if interrupted.
absl::StatusOr<std::vector<Trial>> Tuner::Race(int task) {
  Task& t = tasks_[task];
  std::vector<Trial> trials;
  std::vector<RowId> records;
  std::vector<double> searched;  // seconds that the search measured
  std::set<RowId> seen;
  double first = 0;  // seconds of the fastest finalist
  const auto enter = [&](const Measured* m) -> absl::Status {
    if (first > 0 && m->seconds > options_.finals.far_behind * first) return absl::OkStatus();
    if (t.refused.contains(m->record) || !seen.insert(m->record).second) return absl::OkStatus();
    if (Stopped()) return absl::CancelledError("stopped");
    absl::StatusOr<Point> point = PointOf(*t.space, prefilter_, m->candidate);
    if (!point.ok()) return point.status();
    const Phase phase("proof");
    const Proof proof = Prove(t.space->original, point->replayed, {.prover = options_.prover});
    if (const absl::Status refuted = RejectRefuted(proof, "it"); !refuted.ok())
      return store_.SetVerdict(m->record, false, outcome::kWrongResult, std::string(refuted.message()));
    if (records.empty()) first = m->seconds;
    records.push_back(m->record);
    searched.push_back(m->seconds);
    const std::string hash = ToString(HashOf(point->replayed.program()));
    trials.push_back({m->candidate, hash, *std::move(point), {}, proof.verdict == Proof::Verdict::kProven});
    return absl::OkStatus();
  };
  const auto finalists = static_cast<size_t>(options_.finalists);
  const std::vector<const Measured*> fastest = history_.Best(task, std::numeric_limits<int>::max());
  const absl::StatusOr<std::vector<const Measured*>> likely = ByModel(task, fastest);
  if (!likely.ok()) return likely.status();
  const auto enter_until = [&](size_t count, const std::vector<const Measured*>& list) {
    for (const Measured* m : list) {
      if (records.size() >= count) break;
      if (const absl::Status status = enter(m); !status.ok()) return status;
    }
    return absl::OkStatus();
  };
  if (const absl::Status status = enter_until(finalists, fastest); !status.ok()) return status;
  if (const absl::Status status = enter_until(2 * finalists, *likely); !status.ok()) return status;
  const auto earlier = std::find_if(fastest.begin(), fastest.end(),
                                    [&](const Measured* m) { return m->record <= t.known_records; });
  if (earlier != fastest.end()) {
    if (const absl::Status status = enter(*earlier); !status.ok()) return status;
  }
  if (trials.empty() || (trials.size() < 2 && !measurer_.RacesCheck())) return std::vector<Trial>();
  std::vector<MeasureRequest> requests;
  for (const Trial& trial : trials) requests.push_back(RequestOf(task, trial.point));
  std::vector<MeasureResult> results = RaceUntilQuiet(requests, searched);
  for (size_t i = 0; i < trials.size(); ++i) {
    trials[i].result = std::move(results[i]);
    if (trials[i].result.status == outcome::kInterrupted)
      return absl::CancelledError("a race was interrupted");
    if (trials[i].result.ok()) continue;
    t.refused.insert(records[i]);
    const absl::Status status =
        store_.SetVerdict(records[i], false, trials[i].result.status, trials[i].result.error);
    if (!status.ok()) return status;
  }
  return trials;
}

// Lets the finalists of a task race. If all of them fail and races check more than measurements (RacesCheck), the next
// fastest programs race, until one runs or no program is left. Returns the trials of all races.
absl::StatusOr<std::vector<Trial>> Tuner::RaceUntilOneRuns(int task) {
  std::vector<Trial> all;
  for (;;) {
    absl::StatusOr<std::vector<Trial>> trials = Race(task);
    if (!trials.ok()) return trials;
    const bool runs = absl::c_any_of(*trials, [](const Trial& trial) { return trial.result.ok(); });
    const bool last = trials->empty() || runs || !measurer_.RacesCheck();
    std::move(trials->begin(), trials->end(), std::back_inserter(all));
    if (last) return all;
  }
}

absl::Status Tuner::RaceAndFinish() {
  if (Stopped()) return absl::CancelledError("stopped");
  std::vector<RecordRow> rows;
  for (int task = 0; !raced_ && options_.finalists > 0 && task < static_cast<int>(tasks_.size()); ++task) {
    const absl::StatusOr<std::vector<Trial>> trials = RaceUntilOneRuns(task);
    if (!trials.ok()) return trials.status();
    for (const Trial& trial : *trials) {
      rows.push_back(RowOf(task, trial));
      rows.back().flags.race = true;
      rows.back().flags.proven = trial.proven;
    }
  }
  raced_ = true;
  const absl::StatusOr<RunState> state = StateNow();
  if (!state.ok()) return state.status();
  if (!rows.empty()) {
    const auto appended = store_.AppendRecords(run_, rows, Serialize(*state));
    if (!appended.ok()) return appended.status();
  }
  return options_.leaves_open ? absl::OkStatus() : store_.FinishRun(run_);
}

// Returns the seconds that a search, of this run or another, measured last for the program of a raced record. Returns 0
// if the record is not from a race, or if the store gives no such time with the same state of the caches.
double Tuner::SearchedSeconds(int task, const RecordRow& raced) const {
  if (!raced.flags.race) return 0;
  const auto records = store_.Records(tasks_[task].workload, target_row_);
  if (!records.ok()) return 0;
  double seconds = 0;
  for (const RecordRow& row : *records) {
    const bool same = row.program_hash == raced.program_hash && row.flags.caches() == raced.flags.caches();
    if (same && !row.flags.race && CanBeBest(row)) seconds = Seconds(row);
  }
  return seconds;
}

absl::StatusOr<std::vector<TuneResult>> Tuner::Results(bool interrupted) {
  std::vector<TuneResult> results;
  const std::vector<double> gains = MinuteGains();
  for (int t = 0; t < static_cast<int>(tasks_.size()); ++t) {
    const Task& task = tasks_[t];
    TuneResult result;
    result.in_place = task.in_place;
    result.minute_gain = gains[static_cast<size_t>(t)];
    result.name = task.tuned->name;
    result.latency = std::numeric_limits<double>::infinity();
    result.trials = task.trials;
    result.failures = task.failures;
    result.interrupted = interrupted;
    result.run = run_;
    result.ended = std::string(Ended(t));
    result.failed = task.failed;
    const auto own = store_.Records(task.workload, target_row_, run_);
    if (!own.ok()) return own.status();
    std::optional<RecordRow> best;
    for (const RecordRow& row : *own) {
      if (row.task != t || !row.flags.race || !CanBeBest(row)) continue;
      if (!best || Seconds(row) < Seconds(*best)) best = row;
    }
    for (const Measured* m : history_.Best(t, best ? 0 : std::numeric_limits<int>::max())) {
      absl::StatusOr<RecordEntry> entry = store_.Get(m->record);
      if (!entry.ok()) return entry.status();
      if (!CanBeBest(entry->record)) continue;
      best = std::move(entry->record);
      break;
    }
    if (best) {
      absl::StatusOr<Trace> trace = ParseTrace(best->trace);
      if (!trace.ok()) return trace.status();
      result.trace = *std::move(trace);
      const absl::StatusOr<Replayed> replayed =
          Replay(result.trace, task.space->original, target_, {.snapshots = false});
      if (!replayed.ok()) return replayed.status();
      result.program = replayed->program();
      result.latency = Seconds(*best);
      result.record = best->id;
      result.flags = best->flags;
      result.quiet = QuietOf(best->raw_samples, best->flags);
      result.searched = SearchedSeconds(t, *best);
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace kiln::internal
