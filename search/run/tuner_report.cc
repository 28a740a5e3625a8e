// Makes the log of a round of the tuner, and reports the progress to the caller.
#include <algorithm>
#include <cmath>

#include "search/run/tuner.h"

namespace kiln::internal {

RoundLog Tuner::LogOf(int task, const std::vector<Trial>& batch, std::optional<double> accuracy) {
  const Task& t = tasks_[task];
  RoundLog log;
  log.task = t.tuned->name;
  log.batch = static_cast<int>(batch.size());
  log.best_seconds = history_.best_seconds(task);
  for (const Trial& trial : batch) {
    log.failed += !trial.result.ok();
    const Quiet quiet = QuietOf(trial.result.raw_samples, trial.result.flags);
    log.quiet.quiet += quiet.quiet;
    log.quiet.samples += quiet.samples;
    if (trial.result.ok() && !trial.result.lower_bound)
      log.best_seconds = std::min(log.best_seconds, trial.seconds());
  }
  log.rank_accuracy = accuracy;
  log.chains = t.strategy->stats();
  PhaseSeconds& s = log.seconds = spent_;
  s.features = static_cast<double>(feature_nanos_.exchange(0)) * 1e-9 / pool_.threads();
  s.propose = std::max(0.0, s.propose - s.predict - s.features);
  const MeasurerSeconds now = measurer_.Spent();
  s.build = std::min(s.run, now.build - measured_before_.build);
  s.run -= s.build;
  measured_before_ = now;
  return log;
}

void Tuner::Report(int task, const RoundLog& log) const {
  const Task& t = tasks_[task];
  TuneProgress progress;
  progress.task = task;
  progress.name = t.tuned->name;
  progress.round = t.round - 1;
  progress.trials = t.trials;
  progress.total_trials = TotalTrials();
  progress.batch = log.batch;
  progress.failed = log.failed;
  progress.best_seconds = log.best_seconds;
  progress.gflops = std::isfinite(log.best_seconds) ? t.tuned->flops / log.best_seconds / 1e9 : 0;
  progress.failures = t.failures;
  progress.rank_accuracy = log.rank_accuracy;
  progress.quiet = log.quiet;
  progress.chains = log.chains;
  progress.phases = log.seconds;
  progress.seconds = Elapsed();
  options_.progress(progress);
}

}  // namespace kiln::internal
