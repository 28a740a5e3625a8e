#include "search/cost/loss.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "lang/base/check.h"
#include "search/cost/mix.h"

namespace kiln {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double Softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

}  // namespace

SumLoss::SumLoss(const LossOptions& options, absl::Span<const TrainingLabel> labels,
                 absl::Span<const double> base)
    : programs_(static_cast<int>(labels.size())) {
  KILN_CHECK(base.empty() || base.size() == labels.size());
  const auto weight = [&](const TrainingLabel& l) {
    return l.weight * std::max(l.throughput, options.least_throughput);
  };
  double total = 0;

  if (options.kind == Loss::kSquaredError) {
    for (const TrainingLabel& l : labels) {
      targets_.push_back(
          {std::log(std::max(l.throughput, options.least_throughput)), weight(l), l.upper_bound});
      total += targets_.back().weight;
    }
    for (Target& t : targets_) t.weight *= total > 0 ? programs_ / total : 0;
    if (!base.empty()) TakeOff(labels, base);
    return;
  }

  const auto add = [&](int a, int b) {
    if (labels[a].throughput < labels[b].throughput) std::swap(a, b);
    if (labels[a].throughput == labels[b].throughput || (labels[a].upper_bound && labels[b].throughput > 0)) {
      return;
    }
    const double w = weight(labels[a]) * labels[b].weight * (labels[a].throughput - labels[b].throughput);
    pairs_.push_back({a, b, w, base.empty() ? 0 : base[a] - base[b]});
    total += w;
  };
  std::map<int, std::vector<int>> groups;
  for (int p = 0; p < programs_; ++p) groups[labels[p].group].push_back(p);
  for (const auto& [group, members] : groups) {
    const int n = static_cast<int>(members.size());
    for (int i = 0; i < n; ++i) {
      if (n <= options.pairs_per_program) {
        for (int j = 0; j < i; ++j) add(members[i], members[j]);
      } else {
        for (int t = 0; t < options.pairs_per_program; ++t) {
          const uint64_t draw = MixBits(static_cast<uint64_t>(i) * options.pairs_per_program + t);
          add(members[i], members[draw % n]);
        }
      }
    }
  }
  // Scales the weights to a mean curvature of 1 per program. Where all scores are equal, a pair of weight w adds w / 4
  // to the second derivative of the loss by each of its two scores.
  for (Pair& p : pairs_) p.weight *= total > 0 ? 2 * programs_ / total : 0;
}

// Makes the targets relative to a base model: subtracts its scores, then from the targets of each task their weighted
// mean. Upper bounds do not count in that mean.
void SumLoss::TakeOff(absl::Span<const TrainingLabel> labels, absl::Span<const double> base) {
  std::map<int, std::pair<double, double>> tasks;  // sums of weighted differences and of weights
  for (size_t p = 0; p < targets_.size(); ++p) {
    targets_[p].value -= base[p];
    if (targets_[p].upper_bound) continue;
    auto& [difference, weight] = tasks[labels[p].group];
    difference += targets_[p].weight * targets_[p].value;
    weight += targets_[p].weight;
  }
  for (size_t p = 0; p < targets_.size(); ++p) {
    const auto& [difference, weight] = tasks[labels[p].group];
    if (weight > 0) targets_[p].value -= difference / weight;
  }
}

double SumLoss::Value(absl::Span<const double> sums) const {
  KILN_CHECK(static_cast<int>(sums.size()) == programs_);
  double value = 0;
  for (size_t p = 0; p < targets_.size(); ++p) {
    const double error = sums[p] - targets_[p].value;
    if (error < 0 && targets_[p].upper_bound) continue;
    value += targets_[p].weight * error * error / 2;
  }
  for (const Pair& p : pairs_) value += p.weight * Softplus(sums[p.slower] - sums[p.faster] - p.ahead);
  return value;
}

void SumLoss::Derivatives(absl::Span<const double> sums, std::vector<double>* first,
                          std::vector<double>* second) const {
  KILN_CHECK(static_cast<int>(sums.size()) == programs_);
  first->assign(programs_, 0);
  second->assign(programs_, 0);
  for (size_t p = 0; p < targets_.size(); ++p) {
    const double error = sums[p] - targets_[p].value;
    if (error < 0 && targets_[p].upper_bound) continue;
    (*first)[p] = targets_[p].weight * error;
    (*second)[p] = targets_[p].weight;
  }
  for (const Pair& p : pairs_) {
    const double wrong = Sigmoid(sums[p.slower] - sums[p.faster] - p.ahead);
    const double slope = p.weight * wrong;
    const double curvature = slope * (1 - wrong);
    (*first)[p.faster] -= slope;
    (*first)[p.slower] += slope;
    (*second)[p.faster] += curvature;
    (*second)[p.slower] += curvature;
  }
}

}  // namespace kiln
