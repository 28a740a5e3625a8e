// A Trace records one linear execution of a space as data, with every decision (design D7).
//
// A plain value. Two traces are equal if their choices, steps and decisions are equal. Source lines and
// names of alternatives do not count. Not thread safe while a thread writes it.
#pragma once

#include <vector>

#include "absl/numeric/int128.h"
#include "lang/schedule/schedule.h"

namespace kiln {

struct Trace {
  std::vector<Step> steps;
  std::vector<Schedule::Choice> choices;  // the structural choices that led to these steps, in order

  static Trace Of(const Schedule& schedule) { return {schedule.steps(), schedule.choices()}; }
  friend bool operator==(const Trace&, const Trace&) = default;
};

// Returns a hash of the trace. Equal traces have equal hashes, on every machine and in every process.
absl::uint128 Hash(const Trace& trace);

// True if the steps are equal apart from their decisions: both traces are runs of one sketch. Choices do not count.
bool SameSketch(const Trace& a, const Trace& b);
bool SameButDecision(const Step& a, const Step& b);

}  // namespace kiln
