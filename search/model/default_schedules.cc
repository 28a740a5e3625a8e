#include "search/model/default_schedules.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lang/base/phase.h"
#include "search/features/cycle_estimate.h"
#include "search/purposes.h"
#include "search/sampler/prior.h"
#include "search/thread_pool.h"
#include "validator/validate.h"

namespace kiln {
namespace {

constexpr size_t kBest = 8;      // programs of a task that are changed
constexpr int kBatch = 64;       // changes at a time
constexpr double kOther = 0.05;  // probability that a change is of the sketch

// Returns a prefilter that validates a program. Its only feature is the negative logarithm of the estimated cycles.
Prefilter MakeEstimate(const Target& target) {
  struct Workspace {
    explicit Workspace(const Target& t) : target(t), estimate(t) {}
    const Target target;
    LoopNestSummary nests;
    CycleEstimate estimate;
  };
  return [w = std::make_shared<Workspace>(target)](const Replayed& replayed, FeatureSet& features) {
    w->nests.Read(replayed.program());
    const Verdict verdict = Validate(w->nests, w->target);
    if (!verdict.ok) return verdict.status();
    features = {1, {static_cast<float>(-std::log(w->estimate.Cycles(w->nests)))}};
    return absl::OkStatus();
  };
}

using Points = std::vector<std::shared_ptr<const Point>>;

float Score(const std::shared_ptr<const Point>& point) { return point->features.values[0]; }

class TaskDefault {
 public:
  TaskDefault(const DefaultTask& task, uint64_t number, const Target& target, const DefaultOptions& options,
              const std::vector<Prefilter>& prefilters, ThreadPool& pool)
      : task_(task), number_(number), options_(options), prefilters_(prefilters), pool_(pool) {
    space_.original = task.program;
    space_.target = target;
  }

  // Enumerates the task's sketches, and draws programs from their prior. If no program is found, returns OK, and why_
  // has the reason. Returns kInvalidArgument and kCancelled of the enumeration.
  absl::Status Begin(const SpaceFunction& space) {
    EnumerateOptions enumerating = options_.sketches;
    enumerating.stop = options_.stop;
    const absl::StatusOr<Enumeration> sketches =
        task_.sketches ? absl::StatusOr<Enumeration>(*task_.sketches)
                       : Enumerate(space, task_.program, space_.target, enumerating);
    if (absl::IsInvalidArgument(sketches.status()) || absl::IsCancelled(sketches.status()))
      return sketches.status();
    why_ = sketches.status();
    if (!sketches.ok()) return absl::OkStatus();
    for (const Sketch& sketch : sketches->sketches) space_.sketches.push_back(sketch.trace);
    if (space_.sketches.empty()) {
      why_ = absl::FailedPreconditionError(
          absl::StrCat("the space gives no sketch that applies", sketches->dropped.empty() ? "" : ": ",
                       sketches->dropped.empty() ? "" : sketches->dropped.front().reason.message()));
    } else {
      Draw();
    }
    return absl::OkStatus();
  }

  // Makes 64 changes (kBatch), each of one decision or of the sketch, to the task's best programs in turn. The fastest
  // of the programs made from one takes its place, if it is estimated faster.
  void Change() {
    std::vector<std::shared_ptr<const Point>> changed(kBatch);
    pool_.For(kBatch, [&](int i, int thread) {
      RandomDice dice(EngineOf(options_.seed, number_, batch_, i, 0, Purpose::kChange));
      changed[i] = Propose(space_, prefilters_[thread], *best_[i % best_.size()], kOther, dice).to;
    });
    Points next = best_;
    for (int i = 0; i < kBatch; ++i) {
      if (changed[i] == nullptr) continue;
      ++tried_;
      auto& place = next[i % best_.size()];
      if (Score(changed[i]) > Score(place)) place = changed[i];
    }
    best_ = std::move(next);
    ++batch_;
  }

  bool CanChange() const { return !best_.empty(); }

  // Returns the priority of a task for the next batch of changes: its estimated cycles in the model (one execution
  // times occurrences), divided by the number of batches that it will have had with that one.
  double Claim() const { return cycles() * task_.occurrences / (batch_ + 1); }

  DefaultSchedule Result() const {
    if (best_.empty()) {
      LoopNestSummary nests;
      nests.Read(task_.program);
      return {{}, task_.program, CycleEstimate(space_.target).Cycles(nests), 0, std::string(why_.message())};
    }
    const Replayed& best = Best()->replayed;
    return {WithDecisions(best), best.program(), cycles(), tried_, ""};
  }

 private:
  void Draw() {
    const auto sketches = static_cast<int>(space_.sketches.size());
    std::vector<absl::StatusOr<Point>> drawn(options_.draws, absl::UnknownError(""));
    pool_.For(options_.draws, [&](int i, int thread) {
      RandomDice dice(EngineOf(options_.seed, number_, 0, i, 0, Purpose::kDefault));
      drawn[i] = DrawValid(space_, prefilters_[thread], i % sketches, dice);
    });
    for (absl::StatusOr<Point>& point : drawn) {
      why_ = point.status();
      if (point.ok()) best_.push_back(std::make_shared<const Point>(*std::move(point)));
    }
    tried_ = static_cast<int64_t>(best_.size());
    std::sort(best_.begin(), best_.end(), [](const auto& a, const auto& b) { return Score(a) > Score(b); });
    best_.resize(std::min(best_.size(), kBest));
  }

  const std::shared_ptr<const Point>& Best() const {
    return *std::max_element(best_.begin(), best_.end(),
                             [](const auto& a, const auto& b) { return Score(a) < Score(b); });
  }
  double cycles() const { return std::exp(-static_cast<double>(Score(Best()))); }

  const DefaultTask& task_;
  const uint64_t number_;  // of the task, for its dice
  const DefaultOptions& options_;
  const std::vector<Prefilter>& prefilters_;
  ThreadPool& pool_;
  SearchSpace space_;
  absl::Status why_;  // why there is no program
  Points best_;
  int batch_ = 0;
  int64_t tried_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<DefaultSchedule>> DefaultSchedules(const std::vector<DefaultTask>& tasks,
                                                              const SpaceFunction& space,
                                                              const Target& target,
                                                              const DefaultOptions& options) {
  const Phase phase("default schedules");
  const ProcessClock process;
  const Clock& clock = options.clock != nullptr ? *options.clock : process;
  const double begin = clock.Seconds();
  const auto stopped = [&] { return options.stop != nullptr && *options.stop; };
  ThreadPool pool(std::max(1, options.threads));
  std::vector<Prefilter> prefilters;
  for (int i = 0; i < pool.threads(); ++i) prefilters.push_back(MakeEstimate(target));
  std::vector<std::unique_ptr<TaskDefault>> defaults;  // points refer to the space in theirs
  std::vector<TaskDefault*> changing;
  for (const DefaultTask& task : tasks) {
    defaults.push_back(
        std::make_unique<TaskDefault>(task, defaults.size(), target, options, prefilters, pool));
    if (const absl::Status begun = defaults.back()->Begin(space); !begun.ok()) return begun;
    if (stopped()) return absl::CancelledError("stopped");
    if (defaults.back()->CanChange()) changing.push_back(defaults.back().get());
  }
  const auto more = [&](int64_t changes) {
    return options.seconds > 0 ? clock.Seconds() - begin < options.seconds : changes < options.changes;
  };
  for (int64_t changes = 0; !changing.empty() && more(changes); changes += kBatch) {
    (*std::max_element(changing.begin(), changing.end(), [](const TaskDefault* a, const TaskDefault* b) {
      return a->Claim() < b->Claim();
    }))->Change();
    if (stopped()) return absl::CancelledError("stopped");
  }
  std::vector<DefaultSchedule> schedules;
  for (const auto& task : defaults) schedules.push_back(task->Result());
  return schedules;
}

}  // namespace kiln
