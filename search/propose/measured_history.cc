#include "search/propose/measured_history.h"

#include <algorithm>
#include <cmath>

#include "trace/text.h"

namespace kiln {

void MeasuredHistory::Add(const Measured& measured, const FeatureSet& features) {
  all_.push_back(measured);
  features_.Append(features);
  if (!measured.lower_bound)
    best_seconds_[measured.task] = std::min(best_seconds_[measured.task], measured.seconds);
}

void MeasuredHistory::Rename(int task, int to) {
  for (Measured& measured : all_)
    if (measured.task == task) measured.task = to;
  hashes_[to].merge(hashes_[task]);
  hashes_[task].clear();
  best_seconds_[to] = std::min(best_seconds_[to], best_seconds_[task]);
  best_seconds_[task] = std::numeric_limits<double>::infinity();
}

std::vector<const Measured*> MeasuredHistory::Best(int task, int n) const {
  std::vector<const Measured*> best;
  for (const Measured& m : all_) {
    if (m.task == task && !m.lower_bound && std::isfinite(m.seconds)) best.push_back(&m);
  }
  std::sort(best.begin(), best.end(), [](const Measured* a, const Measured* b) {
    return a->seconds != b->seconds ? a->seconds < b->seconds : a < b;
  });
  if (static_cast<int>(best.size()) > n) best.resize(n);
  return best;
}

absl::Status MeasuredHistory::Teach(CostModel& model) const {
  std::vector<TrainingLabel> labels;
  for (const Measured& m : all_) {
    const bool ran = std::isfinite(m.seconds);
    const double best = std::min(best_seconds_[m.task], m.seconds);
    labels.push_back({ran ? best / m.seconds : 0, m.task, ran ? 1.0 : 0.5, m.lower_bound});
  }
  return model.Update(features_, labels);
}

absl::StatusOr<Candidate> CandidateOfTrace(const Trace& trace, absl::Span<const Trace> sketches) {
  for (size_t k = 0; k < sketches.size(); ++k) {
    if (!SameSketch(trace, sketches[k])) continue;
    Candidate candidate{static_cast<int>(k), {}, 0};
    for (const Step& step : trace.steps) {
      if (step.primitive->sampling) candidate.decisions.push_back(step.decision);
    }
    return candidate;
  }
  return absl::NotFoundError("the trace belongs to no sketch of this space");
}

absl::StatusOr<Candidate> CandidateOfText(absl::string_view text, absl::Span<const Trace> sketches) {
  const absl::StatusOr<Trace> trace = ParseTrace(text);
  return trace.ok() ? CandidateOfTrace(*trace, sketches) : trace.status();
}

std::vector<int> MeasuredHistory::PerSketch(int task, int sketches) const {
  std::vector<int> counts(sketches, 0);
  for (const Measured& m : all_) {
    if (m.task == task) ++counts[m.candidate.sketch];
  }
  return counts;
}

std::vector<double> Throughputs(absl::Span<const double> seconds) {
  double best = std::numeric_limits<double>::infinity();
  for (const double s : seconds) best = std::min(best, s);
  std::vector<double> throughputs;
  for (const double s : seconds) throughputs.push_back(std::isfinite(s) ? best / s : 0);
  return throughputs;
}

}  // namespace kiln
