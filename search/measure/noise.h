// Tells from a record's samples and flags how many samples nothing disturbed, whether race and search agree on the time
// of a program (docs/decisions/0019), and whether a race needs more samples.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "search/database/record_flags.h"

namespace kiln {

// A result is noisy if the program's times in the race and in the search differ by more than this factor, 1.2.
// Undisturbed times usually differ less.
inline constexpr double kRaceDiffers = 1.2;

// The number of samples, and of quiet ones. Beside a quiet sample, the reference kernel took at most 1.1 times its
// undisturbed time, and no other process had the core meanwhile. Records do not say which samples were preempted, so
// `quiet` is the smaller one of the counts that satisfy each condition. Mostly returns true if at least half of the
// samples are quiet, or if there are none.
struct Quiet {
  int quiet = 0, samples = 0;  // samples is 0 if the measurer does not report it
  bool Mostly() const { return 2 * quiet >= samples; }
};
Quiet QuietOf(absl::Span<const double> raw_samples, const RecordFlags& flags);

// Returns true if the seconds of a program in the race and in the search differ by a factor of more than 1.2
// (kRaceDiffers); false if one of them is unknown.
bool RaceDiffers(double race, double search);

// Returns true if one of several programs is the fastest whatever further samples say: its slowest sample takes at most
// half the seconds of any sample of the others. `first` has the samples of one program, `peers` those of each other
// one, in seconds. False without peers, or if a program has no samples.
bool IsDecided(const std::vector<double>& first, const std::vector<std::vector<double>>& peers);

}  // namespace kiln
