// How well scores order programs: reported for each measured batch before the model learns from it, which
// makes it an honest estimate at no cost. Pure functions; give them programs of one task.
#pragma once

#include <optional>

#include "absl/types/span.h"

namespace kiln {

// The fraction of pairs of different truth that the scores put in the right order; a pair of equal scores
// counts one half, so that a constant or random model has 0.5. None when no two truths differ. Takes time n².
// Invariant: as many scores as truths.
std::optional<double> RankAccuracy(absl::Span<const double> scores, absl::Span<const double> truth);

// Of the k programs with the highest scores, the fraction that is among the k truly best (everything as good
// as the k-th counts as such). Where equal scores leave open which are taken, the mean over all ways to take
// them: the order of the input never matters. None when there are fewer than k programs. Invariants: as many
// scores as truths; k > 0.
std::optional<double> RecallAtK(absl::Span<const double> scores, absl::Span<const double> truth, int k);

}  // namespace kiln
