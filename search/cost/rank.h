// Measures how well scores order programs. The tuner reports the accuracy for each measured batch before the model
// learns from the batch, so the estimate is honest and free. Pure functions; pass programs of one task.
#pragma once

#include <optional>

#include "absl/types/span.h"

namespace kiln {

// Returns the fraction of pairs of programs with different true speed that the scores put in the right order. A pair
// with equal scores counts one half, so constant scores get 0.5, and random ones get 0.5 on average. Returns nullopt if
// all truths are equal. Takes time n². Invariant: as many scores as truths.
std::optional<double> RankAccuracy(absl::Span<const double> scores, absl::Span<const double> truth);

// Returns the fraction of the k programs with the highest scores that are among the k truly best. Programs as good as
// the k-th best count as best. If equal scores leave open which programs are taken, returns the mean over all ways to
// take them, so the order of the input never matters. Returns nullopt for fewer than k programs. Invariants: as many
// scores as truths; k > 0.
std::optional<double> RecallAtK(absl::Span<const double> scores, absl::Span<const double> truth, int k);

}  // namespace kiln
