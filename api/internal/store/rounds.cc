#include "api/internal/store/rounds.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "api/internal/store/static_results.h"
#include "nlohmann/json.hpp"

namespace kiln::api {
namespace {

using Json = nlohmann::json;

Json At(const Json& json, const char* key) { return json.is_object() ? json.value(key, Json()) : Json(); }

template <typename T>
void Read(const Json& json, const char* key, T* value) {
  const Json found = At(json, key);
  if (found.is_number()) *value = found.get<T>();
}
void Read(const Json& json, const char* key, std::optional<double>* value) {
  const Json found = At(json, key);
  if (found.is_number()) *value = found.get<double>();
}

// Reads the statistics of a round, in the JSON of search/run/round_log.h. Keys that older versions did not write are
// left as they are.
void ReadStatistics(const Json& json, Round* round) {
  const Json task = At(json, "task"), quiet = At(json, "quiet"), chains = At(json, "chains"),
             seconds = At(json, "seconds");
  if (task.is_string()) round->task = task.get<std::string>();
  Read(json, "batch", &round->batch);
  Read(json, "failed", &round->failed);
  Read(json, "best_seconds", &round->best_seconds);
  Read(json, "rank_accuracy", &round->rank_accuracy);
  Read(quiet, "quiet", &round->quiet);
  Read(quiet, "samples", &round->samples);
  Read(chains, "proposed", &round->chains.proposed);
  Read(chains, "valid", &round->chains.valid);
  Read(chains, "duplicates", &round->chains.duplicates);
  Read(chains, "accepted", &round->chains.accepted);
  Read(chains, "temperature", &round->chains.temperature);
  Read(chains, "effective_sample_size", &round->chains.effective_sample_size);
  Read(seconds, "propose", &round->seconds.propose);
  Read(seconds, "features", &round->seconds.features);
  Read(seconds, "predict", &round->seconds.predict);
  Read(seconds, "build", &round->seconds.build);
  Read(seconds, "run", &round->seconds.run);
  Read(seconds, "train", &round->seconds.train);
  Read(seconds, "store", &round->seconds.store);
}

// Replaces the best seconds of a round by cycles if it was static (its clock is not 0).
void ShowCycles(double static_clock, Round* round) {
  if (static_clock <= 0 || !round->best_seconds) return;
  round->best_cycles = *round->best_seconds * static_clock;
  round->best_seconds.reset();
}

}  // namespace

Round RoundOf(const TuneProgress& p, double static_clock) {
  const RoundStats& c = p.chains;
  const PhaseSeconds& s = p.phases;
  Round round{.index = p.task,
              .task = p.name,
              .round = p.round,
              .trials = p.trials,
              .batch = p.batch,
              .failed = p.failed,
              .best_seconds = {},
              .rank_accuracy = p.rank_accuracy,
              .quiet = p.quiet.quiet,
              .samples = p.quiet.samples,
              .chains = {c.proposed, c.valid, c.duplicates, c.accepted, c.temperature, c.effective},
              .seconds = {s.propose, s.features, s.predict, s.build, s.run, s.train, s.store},
              .now = Round::Now{p.total_trials, static_clock > 0 ? 0 : p.gflops, p.seconds, p.failures}};
  if (std::isfinite(p.best_seconds)) round.best_seconds = p.best_seconds;
  ShowCycles(static_clock, &round);
  return round;
}

absl::StatusOr<std::vector<Round>> RoundsOf(Store& store, RowId run) {
  const auto rows = store.Rounds(run);
  if (!rows.ok()) return rows.status();
  const auto runs = store.Runs();
  if (!runs.ok()) return runs.status();
  double static_clock = 0;
  for (const RunRow& row : *runs)
    if (row.id == run) static_clock = StaticClockOf(row);
  std::vector<Round> rounds;
  for (const RoundRow& row : *rows) {
    const Json statistics = Json::parse(row.statistics, nullptr, false);
    if (!statistics.is_object())
      return absl::DataLossError(
          absl::StrCat("run ", run, ", round ", row.round, " of task ", row.task,
                       ": its statistics are not a JSON object; put back a copy of the "
                       "database"));
    Round& round = rounds.emplace_back();
    round.index = row.task;
    round.round = row.round;
    round.trials = row.trials;
    ReadStatistics(statistics, &round);
    ShowCycles(static_clock, &round);
  }
  return rounds;
}

}  // namespace kiln::api
