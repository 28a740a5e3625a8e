// The arithmetic of annealed sequential Monte Carlo (design D8). Pure functions.
#pragma once

#include <vector>

#include "absl/types/span.h"

namespace kiln {

// What makes energies of scores: E = (middle - s) / spread, with the median and IQR / 1.35 of the scores of
// prior draws. So a temperature is a pure number: at T = 1 one spread weighs e.
struct EnergyScale {
  double middle = 0, spread = 1;
  double Energy(double score) const { return (middle - score) / spread; }
};

// Scores that are all alike give a spread of 1.
EnergyScale ScaleOf(std::vector<double> scores);

// Effective sample size of weights given by their logarithms: (Σw)² / Σw², between 1 and their number.
double EffectiveSampleSize(absl::Span<const double> log_weights);

// The temperature T' <= T at which the weights exp(-E (1/T' - 1/T)) have half of the energies' number as
// effective sample size; `floor` if even there they have more. T may be infinite.
double NextTemperature(absl::Span<const double> energies, double temperature, double floor);

// What carries samples of exp(-old / T) over to exp(-new / T'): T' = T or `least`, whichever is higher, or as
// much higher as an effective sample size of a third of their number needs (if none reaches it, where it is
// largest).
struct Carried {
  double temperature = 1;
  std::vector<double> log_weights;  // old / T - new / T'
};
Carried CarryOver(absl::Span<const double> old_energies, absl::Span<const double> new_energies,
                  double temperature, double least = 0);

// Systematic resampling: n = number of weights indices, ascending, index i expected n w_i / Σw times. u in
// [0, 1) is the one random number.
std::vector<int> SystematicResample(absl::Span<const double> log_weights, double u);

}  // namespace kiln
