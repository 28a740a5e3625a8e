// Tells whether a time can be relied on, from a record's flags and its whole timing (docs/decisions/0019).
#pragma once

#include "absl/types/span.h"
#include "search/database/record_flags.h"

namespace kiln {

// Of the same program, race over search or search over race: calm times differ by less.
inline constexpr double kRaceDiffers = 1.2;

// How many samples nothing disturbed: the reference kernel took at most 1.1 of its undisturbed time beside
// them, and no other process had the core meanwhile.
struct Quiet {
  int quiet = 0, samples = 0;  // no samples: the measurer does not say
  bool Mostly() const { return 2 * quiet >= samples; }
};
Quiet QuietOf(absl::Span<const double> taken, const RecordFlags& flags);

// Whether the race of a program (seconds) says something else than the search did.
bool RaceDiffers(double race, double search);

}  // namespace kiln
