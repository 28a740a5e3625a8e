#include "search/run/tune.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lang/base/phase.h"
#include "lang/text/hash.h"
#include "lang/text/text.h"
#include "search/cost/analytic.h"
#include "search/cost/models.h"
#include "search/cost/rank.h"
#include "search/propose/neighbour_source.h"
#include "search/propose/prefilter.h"
#include "search/propose/prior_source.h"
#include "search/propose/stratified_prior.h"
#include "search/purposes.h"
#include "search/run/timed_model.h"
#include "search/run/tuner.h"
#include "search/sampler/prior.h"

namespace kiln {
namespace internal {
namespace {

constexpr int kCentres = 4;  // number of measured programs whose neighbours are tried
// With TuneOptions::least_gain, a task ends if its last trials gain too little: the last 64, or the last quarter if
// that is more.
constexpr int kGainTrials = 64;

}  // namespace

absl::StatusOr<std::vector<TuneResult>> Tuner::Run() {
  absl::Status status = MakeSketches();
  if (status.ok()) status = BeginOrResume();
  if (status.ok()) status = RunWhole();  // a run may have ended between its last round and this
  while (status.ok() && !BudgetSpent()) {
    status = Learn();
    const std::optional<int> task = status.ok() ? NextTask() : std::nullopt;
    if (!task) break;
    last_task_ = *task;
    status = Round(*task);
    if (status.ok()) status = RunWhole();
  }
  MoveBack();
  if (status.ok() && TotalTrials() == 0) status = SomeTaskIsLeft();
  if (status.ok()) status = RaceAndFinish();
  if (!status.ok() && status.code() != absl::StatusCode::kCancelled) return status;
  return Results(!status.ok());
}

absl::Status Tuner::MakeSketches() {
  if (const absl::Status known = CheckStrategy(options_.strategy); !known.ok()) return known;
  const std::function<Prefilter()> make_prefilter = options_.prefilter ? options_.prefilter : [this] {
    return MakePrefilter(target_, options_.features, &feature_nanos_);
  };
  prefilter_ = make_prefilter();
  const Phase phase("enumeration");
  for (size_t t = 0; t < tasks_.size(); ++t) tasks_[t].tuned = &tasks_in_[t];
  for (size_t t = 0; t < tasks_.size(); ++t) {
    Task& task = tasks_[t];
    task.failed = tasks_in_[t].failed;
    task.space =
        std::make_unique<SearchSpace>(SearchSpace{tasks_in_[t].program, target_, {}, make_prefilter});
    if (!task.failed.empty()) continue;
    EnumerateOptions enumerating = options_.sketches;
    enumerating.stop = options_.stop;
    const absl::StatusOr<Enumeration> sketches =
        tasks_in_[t].sketches ? absl::StatusOr<Enumeration>(*tasks_in_[t].sketches)
                              : Enumerate(space_, tasks_in_[t].program, target_, enumerating);
    if (absl::IsInvalidArgument(sketches.status())) return sketches.status();
    if (!sketches.ok()) {
      if (const absl::Status stopped = Fail(task, sketches.status()); !stopped.ok()) return stopped;
      continue;
    }
    for (const Sketch& sketch : sketches->sketches) {
      task.space->sketches.push_back(sketch.trace);
      task.space->support += std::exp(sketch.log_support);
    }
    for (const Trace& trace : options_.search.replay) {
      if (!CandidateOfTrace(trace, task.space->sketches).ok()) task.space->sketches.push_back(trace);
    }
  }
  if (const absl::Status taken = TakeStarts(); !taken.ok()) return taken;
  for (size_t t = 0; t < tasks_.size(); ++t) {
    Task& task = tasks_[t];
    if (task.failed.empty() && task.space->sketches.empty())
      task.failed = "the space gives no sketch that applies";
    if (!task.failed.empty()) continue;
    auto strategy = MakeStrategy(options_.strategy,
                                 {*task.space, options_.search, options_.seed, static_cast<int>(t), pool_});
    if (!strategy.ok()) return strategy.status();
    task.strategy = *std::move(strategy);
  }
  absl::StatusOr<std::unique_ptr<CostModel>> model =
      options_.model ? options_.model(FeatureDim(options_.features))
                     : MakeCostModel("trees", {.features = options_.features});
  if (!model.ok()) return model.status();
  model_ = std::make_unique<TimedModel>(*std::move(model), &spent_);
  informed_ = model_->Informed() && UsesModel();
  return SomeTaskIsLeft();
}

bool Tuner::UsesModel() const {
  for (const Task& task : tasks_)
    if (task.strategy != nullptr) return task.strategy->UsesModel();
  return false;
}

absl::Status Tuner::Fail(Task& task, const absl::Status& why) {
  if (absl::IsCancelled(why) || absl::IsInvalidArgument(why)) return why;
  task.failed = std::string(why.message());
  return absl::OkStatus();
}

absl::Status Tuner::SomeTaskIsLeft() const {
  for (const Task& task : tasks_)
    if (task.failed.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("task ", tasks_in_[0].name, ": ", tasks_[0].failed));
}

absl::Status Tuner::TakeStarts() {
  for (Task& task : tasks_)
    for (const Trace& trace : task.tuned->start) TakeStart(task, trace).IgnoreError();
  for (const Trace& trace : options_.start) {
    absl::Status why;
    bool taken = false;
    for (Task& task : tasks_) {
      const absl::Status fits = TakeStart(task, trace);
      why.Update(fits);
      taken |= fits.ok();
    }
    if (!taken)
      return absl::InvalidArgumentError(
          absl::StrCat("a trace to start from fits none of the tasks: ", why.message()));
  }
  return absl::OkStatus();
}

absl::Status Tuner::TakeStart(Task& task, const Trace& trace) {
  const absl::StatusOr<Replayed> replayed = Replay(trace, task.space->original, target_);
  if (!replayed.ok()) return replayed.status();
  FeatureSet features;
  if (const absl::Status fits = prefilter_(*replayed, features); !fits.ok()) return fits;
  std::vector<Trace>& sketches = task.space->sketches;
  if (!CandidateOfTrace(trace, sketches).ok()) sketches.push_back(trace);
  task.start.push_back(*CandidateOfTrace(trace, sketches));
  return absl::OkStatus();
}

std::vector<TaskStanding> Tuner::Standings() const {
  std::vector<TaskStanding> standings;
  for (size_t t = 0; t < tasks_.size(); ++t) {
    const TuneTask& task = tasks_in_[t];
    standings.push_back({task.weight * tasks_[t].slower, task.flops, task.roofline_seconds, tasks_[t].best,
                         !Ended(static_cast<int>(t)).empty()});
  }
  return standings;
}

std::optional<int> Tuner::NextTask() const {
  return kiln::NextTask(options_.scheduling, Standings(), last_task_);
}

absl::string_view Tuner::Ended(int task) const {
  const Task& t = tasks_[task];
  if (!t.failed.empty()) return "failed";
  if (t.exhausted) return "exhausted";
  const double best = history_.best_seconds(task), roofline = tasks_in_[task].roofline_seconds;
  if (options_.until_roofline > 0 && roofline > 0 && best <= roofline * (1 + options_.until_roofline))
    return "roofline";
  if (options_.least_gain <= 0 || !std::isfinite(best)) return "";
  const int since = t.trials - std::max(kGainTrials, t.trials / 4);
  for (size_t r = t.best.size(); r-- > 0;) {
    if (t.trials_by_round[r] > since) continue;
    return t.best[r] <= best * (1 + options_.least_gain) ? "gain" : "";
  }
  return "";
}

void Tuner::NoteRound(int task, int round) {
  Task& t = tasks_[task];
  t.best.resize(round + 1, std::numeric_limits<double>::infinity());
  t.trials_by_round.resize(round + 1, 0);
  t.best[round] = history_.best_seconds(task);
  t.trials_by_round[round] = t.trials;
}

absl::Status Tuner::Round(int task) {
  Task& t = tasks_[task];
  std::vector<Trial> batch;
  {
    const Stopwatch watch(&spent_.propose);
    do {
      absl::StatusOr<std::vector<Trial>> chosen = Choose(task);
      if (!chosen.ok()) return Fail(t, chosen.status());
      batch = *std::move(chosen);
    } while (batch.empty() && t.strategy->HasMore() && !Stopped());
  }
  if (Stopped()) return absl::CancelledError("stopped");
  t.exhausted = batch.empty();
  if (batch.empty()) return absl::OkStatus();
  const absl::Status measured = Measure(task, batch);
  return measured.ok() ? Record(task, batch) : measured;
}

absl::Status Tuner::Learn() {
  if (!news_ || !UsesModel()) return absl::OkStatus();
  const Phase phase("training");
  news_ = false;
  informed_ = trained_ = true;
  return history_.Teach(*model_);
}

// Returns how many candidates a task's next round measures: BatchSize of its trials so far, at most the trials that the
// budget has left. Before a task's first round, at most these trials divided by the number of tasks that wait for their
// first round, so that each gets one.
int Tuner::RoundSize(int task) const {
  const int left = options_.trials - TotalTrials(), size = std::min(BatchSize(tasks_[task].trials), left);
  int waiting = 0;
  for (size_t t = 0; t < tasks_.size(); ++t)
    waiting += tasks_[t].best.empty() && Ended(static_cast<int>(t)).empty();
  return tasks_[task].best.empty() && waiting > 0 ? std::min(size, std::max(1, left / waiting)) : size;
}

ProposalContext Tuner::ProposalContextOf(int task) const {
  const Task& t = tasks_[task];
  return {
      .round = t.round,
      .size = RoundSize(task),
      .done = static_cast<double>(TotalTrials()) / options_.trials,
      .model = informed_ ? model_.get() : nullptr,
      .trained = trained_,
      .fastest = history_.Best(task, std::numeric_limits<int>::max()),
      .stop = options_.stop,
  };
}

std::vector<Point> Tuner::Centres(int task) const {
  std::vector<Point> centres;
  for (const Measured* best : history_.Best(task, kCentres)) {
    absl::StatusOr<Point> point = PointOf(*tasks_[task].space, prefilter_, best->candidate);
    if (point.ok()) centres.push_back(*std::move(point));
  }
  return centres;
}

// Returns a stratified prior (search/propose/stratified_prior.h) that ranks its draws by the roofline. Returns nullopt
// unless all of these hold: the strategy uses a trained model, the features have a column of cycles, `scouts` is above
// 1, and the batch takes draws from the prior.
std::optional<StratifiedPrior> Tuner::StratifiedPriorFor(int task, const BatchOptions& batch) const {
  const Task& t = tasks_[task];
  if (!trained_ || options_.search.scouts <= 1 || batch.random_share <= 0 || !t.strategy->UsesModel() ||
      !CyclesColumn(options_.features))
    return std::nullopt;
  return StratifiedPrior(
      *t.space, prefilter_,
      [kind = options_.features](const Point& p) { return AnalyticScore(p.features.values, kind); },
      history_.PerSketch(task, static_cast<int>(t.space->sketches.size())), options_.search.scouts,
      [&](uint64_t sketch) { return EngineOf(options_.seed, task, t.round, sketch, 0, Purpose::kScout); });
}

// Chooses a batch to measure: the task's start traces first, then draws from the prior and neighbours of the fastest
// measured programs, then the candidates that the strategy found, and draws again if slots are left
// (BatchOptions::fill). Announces the start traces, draws and neighbours to the measurer before the strategy searches,
// so that it can build them meanwhile.
absl::StatusOr<std::vector<Trial>> Tuner::Choose(int task) {
  const Phase phase("proposals");
  const Task& t = tasks_[task];
  const ProposalContext known = ProposalContextOf(task);
  BatchOptions options = t.strategy->Batch(known);
  RandomDice dice(EngineOf(options_.seed, task, t.round, 0, 0, Purpose::kSelect));
  PriorSource prior(
      *t.space, prefilter_, LeastMeasured(task), StratifiedPriorFor(task, options),
      [&](uint64_t draw) { return EngineOf(options_.seed, task, t.round, draw, 0, Purpose::kDraw); });
  NeighbourSource neighbours(*t.space, prefilter_,
                             options.neighbour_share > 0 ? Centres(task) : std::vector<Point>(),
                             options_.search.other_sketch_share, dice);
  if (neighbours.empty()) options.neighbour_share = 0;
  std::map<std::string, Point> points;
  const BatchSources sources{prior, neighbours,
                             [&](const Candidate& candidate) -> std::optional<std::string> {
                               absl::StatusOr<Point> point = PointOf(*t.space, prefilter_, candidate);
                               if (!point.ok()) return std::nullopt;
                               const std::string hash = ToString(HashOf(point->replayed.program()));
                               points.try_emplace(hash, *std::move(point));
                               return hash;
                             }};
  absl::flat_hash_set<std::string>& hashes = history_.hashes(task);
  const std::vector<Picked> started = SelectListed(t.start, sources, options, hashes);
  options.size -= static_cast<int>(started.size());
  std::vector<Picked> picked = SelectUnsearched(sources, options, dice, hashes);
  for (const std::vector<Picked>* list : {&started, &std::as_const(picked)})
    for (const Picked& p : *list) measurer_.Announce(RequestOf(task, points.at(p.hash)));
  absl::StatusOr<std::vector<Candidate>> found = t.strategy->Propose(known);
  if (!found.ok()) return found.status();
  SelectSearched(*std::move(found), sources, options, dice, hashes, &picked);
  std::vector<Trial> batch;
  for (const std::vector<Picked>* list : {&started, &std::as_const(picked)})
    for (const Picked& p : *list) batch.push_back({p.candidate, p.hash, std::move(points.at(p.hash)), {}});
  return batch;
}

// Returns the numbers of a task's sketches in the order in which draws take them: sketches with the fewest measured
// programs first. Ties rotate from round to round. Before the model is trained, all sketches count as tied.
std::vector<int> Tuner::LeastMeasured(int task) const {
  const int n = static_cast<int>(tasks_[task].space->sketches.size());
  std::vector<int> order(n);
  for (int k = 0; k < n; ++k) order[k] = (tasks_[task].round + k) % n;
  if (!trained_) return order;
  const std::vector<int> counts = history_.PerSketch(task, n);
  std::vector<std::pair<int, int>> ranked;  // (programs measured, position in the rotated order)
  for (int k = 0; k < n; ++k) ranked.emplace_back(counts[order[k]], k);
  std::sort(ranked.begin(), ranked.end());
  std::vector<int> least;
  for (const auto& [count, place] : ranked) least.push_back(order[place]);
  return least;
}

// Measures all trials of a batch quickly, then the fastest quarter again thoroughly, and joins the samples of both.
// Returns kCancelled if interrupted.
absl::Status Tuner::Measure(int task, std::vector<Trial>& batch) {
  const Stopwatch watch(&spent_.run);
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
    const MeasureResult& quick = batch[fastest[i]].result;
    results[i].samples.insert(results[i].samples.begin(), quick.samples.begin(), quick.samples.end());
    results[i].raw_samples.insert(results[i].raw_samples.begin(), quick.raw_samples.begin(),
                                  quick.raw_samples.end());
    batch[fastest[i]].result = std::move(results[i]);
  }
  return Stopped() ? absl::CancelledError("stopped") : absl::OkStatus();
}

absl::StatusOr<std::optional<double>> Tuner::Accuracy(const std::vector<Trial>& batch) const {
  if (!informed_) return std::nullopt;
  FeatureBatch features;
  std::vector<double> seconds;
  for (const Trial& trial : batch) {
    features.Append(trial.point.features);
    seconds.push_back(trial.seconds());
  }
  const auto scores = model_->Predict(features);
  if (!scores.ok()) return scores.status();
  return RankAccuracy(*scores, Throughputs(seconds));
}

absl::Status Tuner::Record(int task, const std::vector<Trial>& batch) {
  Task& t = tasks_[task];
  const absl::StatusOr<std::optional<double>> accuracy = Accuracy(batch);
  if (!accuracy.ok()) return accuracy.status();
  std::vector<RecordRow> rows;
  for (const Trial& trial : batch) rows.push_back(RowOf(task, trial));
  const int round = t.round++;
  t.trials += static_cast<int>(batch.size());
  const RoundLog log = LogOf(task, batch, *accuracy);
  spent_ = {};
  {
    const Stopwatch watch(&spent_.store);
    const absl::StatusOr<RunState> state = StateNow();
    if (!state.ok()) return state.status();
    const RoundRow told{.task = task, .round = round, .trials = t.trials, .statistics = ToJson(log)};
    const auto ids = store_.AppendRecords(run_, rows, Serialize(*state), {told});
    if (!ids.ok()) return ids.status();
    for (size_t i = 0; i < batch.size(); ++i) {
      const Trial& trial = batch[i];
      history_.Add({task, trial.candidate, (*ids)[i], trial.seconds(), trial.result.lower_bound},
                   trial.point.features);
      if (!trial.result.ok()) ++t.failures[trial.result.status];
    }
  }
  NoteRound(task, round);
  news_ = true;
  if (options_.progress) Report(task, log);
  return absl::OkStatus();
}

}  // namespace internal

absl::StatusOr<std::vector<TuneResult>> Tune(const std::vector<TuneTask>& tasks, const SpaceFunction& space,
                                             const Target& target, const TuneOptions& options,
                                             Measurer& measurer, Store& store) {
  if (tasks.empty()) return std::vector<TuneResult>();
  std::vector<TuneTask> distinct;
  std::vector<size_t> distinct_of, first_of;
  std::map<std::string, size_t> known;
  for (size_t t = 0; t < tasks.size(); ++t) {
    const auto [same, fresh] = known.try_emplace(ToString(tasks[t].program), distinct.size());
    distinct_of.push_back(same->second);
    if (fresh) {
      distinct.push_back(tasks[t]);
      first_of.push_back(t);
    } else {
      distinct[same->second].weight += tasks[t].weight;
    }
  }
  TuneOptions own = options;
  own.features = KindFor(target, options.features);
  if (options.progress) {
    own.progress = [&](TuneProgress progress) {
      progress.task = static_cast<int>(first_of[progress.task]);
      options.progress(progress);
    };
  }
  const auto found = internal::Tuner(distinct, space, target, own, measurer, store).Run();
  if (!found.ok()) return found.status();
  std::vector<TuneResult> results;
  for (size_t t = 0; t < tasks.size(); ++t) {
    results.push_back((*found)[distinct_of[t]]);
    results.back().name = tasks[t].name;
  }
  return results;
}

}  // namespace kiln
