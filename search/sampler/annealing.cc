#include "search/sampler/annealing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace kiln {
namespace {

// How often CarryOver tries a temperature: each attempt is a quarter higher than the one before. A last attempt is
// infinity.
constexpr int kHeatings = 24;

// Returns the q-th quantile of sorted numbers, interpolated linearly.
double Quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// Returns exp(w - max w): the weights up to a common factor, without overflow.
std::vector<double> Weights(absl::Span<const double> log_weights) {
  const double most = *std::max_element(log_weights.begin(), log_weights.end());
  std::vector<double> weights;
  for (const double w : log_weights) weights.push_back(std::exp(w - most));
  return weights;
}

}  // namespace

EnergyScale ScaleOf(std::vector<double> scores) {
  if (scores.empty()) return {};
  std::sort(scores.begin(), scores.end());
  const double spread = (Quantile(scores, 0.75) - Quantile(scores, 0.25)) / 1.35;
  return {Quantile(scores, 0.5), spread > 1e-9 ? spread : 1};
}

double EffectiveSampleSize(absl::Span<const double> log_weights) {
  if (log_weights.empty()) return 0;
  double sum = 0, squares = 0;
  for (const double w : Weights(log_weights)) {
    sum += w;
    squares += w * w;
  }
  return sum * sum / squares;
}

double NextTemperature(absl::Span<const double> energies, double temperature, double floor) {
  if (energies.empty() || temperature <= floor) return temperature;
  std::vector<double> log_weights(energies.size());
  const auto size_at = [&](double step) {  // step: 1/T' - 1/T
    for (size_t i = 0; i < energies.size(); ++i) log_weights[i] = -energies[i] * step;
    return EffectiveSampleSize(log_weights);
  };
  const double half = static_cast<double>(energies.size()) / 2;
  double low = 0, high = 1 / floor - 1 / temperature;
  if (size_at(high) >= half) return floor;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (size_at(middle) >= half ? low : high) = middle;
  }
  return low > 0 ? 1 / (1 / temperature + low) : temperature;
}

Carried CarryOver(absl::Span<const double> old_energies, absl::Span<const double> new_energies,
                  double temperature, double least) {
  Carried best;
  double best_size = -1;
  for (int i = 0; i <= kHeatings; ++i) {
    const double raised = i < kHeatings ? std::max(temperature, least) * std::pow(1.25, i)
                                        : std::numeric_limits<double>::infinity();
    Carried carried{raised, {}};
    for (size_t c = 0; c < old_energies.size(); ++c) {
      carried.log_weights.push_back(old_energies[c] / temperature - new_energies[c] / raised);
    }
    const double size = EffectiveSampleSize(carried.log_weights);
    if (size <= best_size) continue;
    best_size = size;
    best = std::move(carried);
    if (size >= static_cast<double>(old_energies.size()) / 3) break;
  }
  return best;
}

std::vector<int> SystematicResample(absl::Span<const double> log_weights, double u) {
  std::vector<int> picked;
  if (log_weights.empty()) return picked;
  const std::vector<double> weights = Weights(log_weights);
  double total = 0;
  for (const double w : weights) total += w;
  const double n = static_cast<double>(weights.size());
  double passed = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    passed += weights[i];
    while (picked.size() < weights.size() && (static_cast<double>(picked.size()) + u) / n * total < passed) {
      picked.push_back(static_cast<int>(i));
    }
  }
  while (picked.size() < weights.size()) picked.push_back(static_cast<int>(weights.size()) - 1);
  return picked;
}

}  // namespace kiln
