// Decides from a record's flags and samples whether its time is reliable (docs/decisions/0019).
#pragma once

#include "absl/types/span.h"
#include "search/database/record_flags.h"

namespace kiln {

// If the times of a program in race and search differ by this factor, the result is noisy. Calm times differ
// less.
inline constexpr double kRaceDiffers = 1.2;

// The number of samples that nothing disturbed: the reference kernel took at most 1.1 times its undisturbed
// time beside them, and no other process had the core meanwhile.
struct Quiet {
  int quiet = 0, samples = 0;  // samples is 0 if the measurer does not report it
  bool Mostly() const { return 2 * quiet >= samples; }
};
Quiet QuietOf(absl::Span<const double> raw_samples, const RecordFlags& flags);

// Returns true if the seconds of a program in the race and in the search differ by more than kRaceDiffers; false if one
// of them is unknown.
bool RaceDiffers(double race, double search);

}  // namespace kiln
