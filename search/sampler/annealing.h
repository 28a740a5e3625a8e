// The arithmetic of annealed sequential Monte Carlo (design D8): energies, temperatures, weights and resampling. Pure
// functions.
#pragma once

#include <vector>

#include "absl/types/span.h"

namespace kiln {

// Converts scores s of the cost model to energies: E = (middle - s) / spread, where middle is the median and spread is
// IQR / 1.35 of the scores of prior draws. Temperatures are therefore pure numbers: at T = 1, a difference of one
// spread changes the weight by a factor of e.
struct EnergyScale {
  double middle = 0, spread = 1;
  double Energy(double score) const { return (middle - score) / spread; }
};

// Computes the scale of energies from the scores of prior draws: their median and spread. If the spread would be at
// most 1e-9, as for equal scores, it is 1. Without scores, the median is 0 and the spread 1.
EnergyScale ScaleOf(std::vector<double> scores);

// Returns the effective sample size of weights, given by their logarithms: (Σw)² / Σw², between 1 and their number; 0
// without weights.
double EffectiveSampleSize(absl::Span<const double> log_weights);

// Returns the next lower temperature: the T' <= T at which the weights exp(-E (1/T' - 1/T)), for the energies E, have
// an effective sample size of half their number. Returns `floor` if the effective sample size is larger even there, and
// T if it is not above `floor` or there are no energies. T may be infinite.
double NextTemperature(absl::Span<const double> energies, double temperature, double floor);

// Weights that carry samples of exp(-old / T) over to exp(-new / T'). T' is the maximum of T and `least`,
// raised further until the effective sample size reaches a third of the number of samples. If no T' reaches
// it, T' is the one with the largest effective sample size.
struct Carried {
  double temperature = 1;
  std::vector<double> log_weights;  // old / T - new / T'
};
Carried CarryOver(absl::Span<const double> old_energies, absl::Span<const double> new_energies,
                  double temperature, double least = 0);

// Systematic resampling: returns as many ascending indices as there are weights n; index i is expected n w_i
// / Σw times. u in [0, 1) is the only random number.
std::vector<int> SystematicResample(absl::Span<const double> log_weights, double u);

}  // namespace kiln
