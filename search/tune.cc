#include "search/tune.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lang/hash.h"
#include "search/cost/models.h"
#include "search/cost/rank.h"
#include "search/judge.h"
#include "search/tuner.h"

namespace kiln {
namespace internal {
namespace {

constexpr uint64_t kSelect =
    100;  // the purpose of the engine that selects a batch; others are the population's

constexpr int kCentres = 4;  // measured programs whose neighbours are tried

}  // namespace

absl::StatusOr<std::vector<TuneResult>> Tuner::Run() {
  absl::Status status = MakeSketches();
  if (status.ok()) status = BeginOrResume();
  while (status.ok() && !BudgetSpent()) {
    status = Learn();
    const std::optional<int> task = status.ok() ? scheduler_.Next() : std::nullopt;
    if (!task) break;
    status = Round(*task);
  }
  if (status.ok()) status = RaceAndFinish();
  if (!status.ok() && status.code() != absl::StatusCode::kCancelled) return status;
  return Results(!status.ok());
}

absl::Status Tuner::MakeSketches() {
  const Target& target = target_;
  const std::function<Judge()> make_judge =
      options_.judge ? options_.judge
                     : [&target, kind = options_.features] { return MakeJudge(target, kind); };
  judge_ = make_judge();
  for (size_t t = 0; t < tasks_.size(); ++t) {
    const absl::StatusOr<Enumeration> sketches =
        Enumerate(space_, tasks_in_[t].program, target_, options_.sketches);
    if (!sketches.ok()) return sketches.status();
    tasks_[t].tuned = &tasks_in_[t];
    tasks_[t].space =
        std::make_unique<SearchSpace>(SearchSpace{tasks_in_[t].program, target_, {}, make_judge});
    for (const Sketch& sketch : sketches->sketches) tasks_[t].space->sketches.push_back(sketch.trace);
    if (tasks_[t].space->sketches.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("task ", tasks_in_[t].name, ": the space gives no sketch that applies"));
    }
    tasks_[t].population = std::make_unique<Population>(*tasks_[t].space, options_.population, options_.seed,
                                                        static_cast<int>(t), pool_);
  }
  absl::StatusOr<std::unique_ptr<CostModel>> model =
      options_.model ? options_.model(FeatureDim(options_.features))
                     : MakeCostModel("trees", {.features = options_.features});
  if (!model.ok()) return model.status();
  model_ = *std::move(model);
  informed_ = model_->Informed() && options_.strategy != Strategy::kRandom;
  return absl::OkStatus();
}

absl::Status Tuner::Round(int task) {
  absl::StatusOr<std::vector<Candidate>> found = Search(task);
  if (!found.ok()) return found.status();
  absl::StatusOr<std::vector<Trial>> batch = Choose(task, *std::move(found));
  if (!batch.ok() || batch->empty()) return batch.status();
  const absl::Status measured = Measure(task, *batch);
  return measured.ok() ? Record(task, *batch) : measured;
}

absl::Status Tuner::Learn() {
  if (!news_ || options_.strategy == Strategy::kRandom) return absl::OkStatus();
  news_ = false;
  informed_ = trained_ = true;
  return knowledge_.Teach(*model_);
}

absl::StatusOr<std::vector<Candidate>> Tuner::Search(int task) {
  if (!informed_) return std::vector<Candidate>();  // the whole batch is drawn from the prior
  std::vector<Candidate> best;
  for (const Measured* m : knowledge_.Best(task, options_.population.chains)) best.push_back(m->candidate);
  return tasks_[task].population->Round(tasks_[task].round, *model_, best, options_.stop);
}

std::vector<Point> Tuner::Centres(int task) const {
  std::vector<Point> centres;
  if (!trained_) return centres;  // the whole batch is drawn from the prior
  for (const Measured* best : knowledge_.Best(task, kCentres)) {
    absl::StatusOr<Point> point = PointOf(*tasks_[task].space, judge_, best->candidate);
    if (point.ok()) centres.push_back(*std::move(point));
  }
  return centres;
}

absl::StatusOr<std::vector<Trial>> Tuner::Choose(int task, std::vector<Candidate> candidates) {
  Task& t = tasks_[task];
  std::map<std::string, Point> points;
  int draws = 0;
  RandomDice dice(
      Engine{options_.seed, static_cast<uint64_t>(task), static_cast<uint64_t>(t.round), 0, 0, kSelect});
  const std::vector<Point> centres = Centres(task);
  const auto neighbour = [&]() -> std::optional<Candidate> {
    const Point& centre = centres[dice.Below(static_cast<int64_t>(centres.size()))];
    const Move move = Propose(*t.space, judge_, centre, /*structure=*/0, dice);
    if (move.to == nullptr) return std::nullopt;
    return CandidateOf(*move.to, 0);
  };
  const BatchSource source{.draw = [&] { return t.population->Draw(t.round, draws++); },
                           .neighbour = neighbour,
                           .hash = [&](const Candidate& candidate) -> std::optional<std::string> {
                             absl::StatusOr<Point> point = PointOf(*t.space, judge_, candidate);
                             if (!point.ok()) return std::nullopt;
                             const std::string hash = ToString(HashOf(point->replayed.program()));
                             points.try_emplace(hash, *std::move(point));
                             return hash;
                           }};
  const BatchOptions how{.size = std::min(BatchSize(t.trials), options_.trials - TotalTrials()),
                         .random_share = trained_ ? options_.random_share : options_.first_random_share,
                         .neighbour_share = centres.empty() ? 0 : options_.neighbour_share,
                         .diversity = options_.diversity};
  std::vector<Trial> batch;
  for (Picked& picked : SelectBatch(std::move(candidates), source, how, dice, knowledge_.hashes(task))) {
    batch.push_back({std::move(picked.candidate), picked.hash, std::move(points.at(picked.hash)), {}});
  }
  if (batch.empty()) {
    t.exhausted = true;
    scheduler_.SetExhausted(task);
  }
  return batch;
}

// Everything quickly, then the fastest quarter thoroughly.
absl::Status Tuner::Measure(int task, std::vector<Trial>& batch) {
  std::vector<MeasureRequest> requests;
  for (const Trial& trial : batch) requests.push_back(RequestOf(task, trial.point));
  std::vector<MeasureResult> results = measurer_.Measure(requests);
  std::vector<int> fastest;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (results[i].status == outcome::kInterrupted) return absl::CancelledError("measuring was interrupted");
    batch[i].result = std::move(results[i]);
    if (batch[i].result.ok() && !batch[i].result.lower_bound) fastest.push_back(static_cast<int>(i));
  }
  std::sort(fastest.begin(), fastest.end(), [&](int a, int b) {
    const double x = batch[a].seconds(), y = batch[b].seconds();
    return x != y ? x < y : a < b;
  });
  fastest.resize(std::min(fastest.size(), (batch.size() + 3) / 4));
  std::vector<MeasureRequest> thorough;
  for (const int i : fastest) {
    thorough.push_back(requests[i]);
    thorough.back().thorough = true;
  }
  if (!thorough.empty()) results = measurer_.Measure(thorough);
  for (size_t i = 0; i < fastest.size(); ++i) {
    if (results[i].status == outcome::kInterrupted) return absl::CancelledError("measuring was interrupted");
    std::vector<double>& samples = results[i].samples;
    const std::vector<double>& quick = batch[fastest[i]].result.samples;
    samples.insert(samples.begin(), quick.begin(), quick.end());
    batch[fastest[i]].result = std::move(results[i]);
  }
  return Stopped() ? absl::CancelledError("stopped") : absl::OkStatus();
}

absl::Status Tuner::Record(int task, const std::vector<Trial>& batch) {
  Task& t = tasks_[task];
  TuneProgress progress;
  if (informed_) {
    FeatureBatch features;
    std::vector<double> seconds;
    for (const Trial& trial : batch) {
      features.Append(trial.point.features);
      seconds.push_back(trial.seconds());
    }
    const auto scores = model_->Predict(features);
    if (!scores.ok()) return scores.status();
    progress.rank_accuracy = RankAccuracy(*scores, Throughputs(seconds));
  }
  std::vector<RecordRow> rows;
  for (const Trial& trial : batch) rows.push_back(RowOf(task, trial));
  ++t.round;
  const absl::StatusOr<RunState> state = StateNow();
  if (!state.ok()) return state.status();
  const auto ids = store_.AppendRecords(run_, rows, Serialize(*state));
  if (!ids.ok()) return ids.status();
  for (size_t i = 0; i < batch.size(); ++i) {
    const Trial& trial = batch[i];
    knowledge_.Add({task, trial.candidate, (*ids)[i], trial.seconds(), trial.result.lower_bound},
                   trial.point.features);
    if (!trial.result.ok()) ++t.failures[trial.result.status];
  }
  t.trials += static_cast<int>(batch.size());
  news_ = true;
  if (!options_.progress) return absl::OkStatus();

  progress.task = task;
  progress.name = t.tuned->name;
  progress.round = t.round - 1;
  progress.trials = t.trials;
  progress.total_trials = TotalTrials();
  progress.best_seconds = knowledge_.best_seconds(task);
  progress.gflops = std::isfinite(progress.best_seconds) ? t.tuned->flops / progress.best_seconds / 1e9 : 0;
  progress.failures = t.failures;
  progress.chains = t.population->stats();
  progress.seconds = Elapsed();
  options_.progress(progress);
  return absl::OkStatus();
}

}  // namespace internal

absl::StatusOr<std::vector<TuneResult>> Tune(const std::vector<TuneTask>& tasks, const SpaceFunction& space,
                                             const Target& target, const TuneOptions& options,
                                             Measurer& measurer, Store& store) {
  return internal::Tuner(tasks, space, target, options, measurer, store).Run();
}

}  // namespace kiln
