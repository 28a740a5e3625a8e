// The enumerator: lists the sketches of a space (design D5).
//
// A space is a function over a Schedule. Each sequence of its structural choices gives one straight line of steps, a
// sketch. The enumerator runs every sequence under several draws. It drops a sequence that never applies, with the
// reason, removes dead steps, and merges sketches whose steps are equal apart from their decisions. If the steps or
// structural choices of one sequence differ between draws, the space branches on a draw. That is kInvalidArgument, with
// the difference and the space. Any other error of the schedule than kFailedPrecondition (a step does not apply) ends
// the enumeration.
//
// If there are more sequences than `limit`, the enumerator does not combine the choices of different blocks. The block
// of a choice is the second-last part of its name (module/block/label), or the name if it has no '/'. For each block,
// the enumerator runs every sequence of that block's choices, as far as the limit allows. The blocks take turns, one
// sequence each. All other choices take their first alternative. If the sequence then does not apply, they take random
// ones, in up to seven attempts. The enumerator draws the rest of the limit uniformly, choice by choice.
//
// The space runs on the caller's thread, a few times for each sequence.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trace/trace.h"

namespace kiln {

using SpaceFunction = std::function<void(Schedule&)>;

struct EnumerateOptions {
  std::string space = "space";              // the space's name, for messages
  int draws = 3;                            // runs of each sequence
  int limit = 256;                          // largest number of sequences that the result covers
  uint64_t seed = 0;                        // seeds the draws; the same seed gives the same sketches
  const std::atomic<bool>* stop = nullptr;  // once it is set, the enumeration ends with kCancelled
};

struct SketchSite {
  std::string name;
  double support = 1;  // number of decisions the site allows in the draw that the trace holds
};

struct Sketch {
  Trace trace;                    // holds the decisions of a draw that applies
  std::vector<SketchSite> sites;  // in program order of the sampling steps
  // Natural logarithm of the number of combinations of decisions at `sites`. If the product of their supports is the
  // same in all draws that apply, it is the logarithm of that product, and counts as exact. Otherwise it is the
  // logarithm of an estimate: the mean of 1/P over the draws that apply, where P is the probability of a draw's
  // decisions. The mean is unbiased if all draws apply.
  double log_support = 0;
  bool exact_support = true;
  int sequences = 1;  // number of choice sequences that lead to these steps
};

struct DroppedSequence {
  std::vector<Schedule::Choice> choices;  // the choices made up to the step that fails
  absl::Status reason;
};

struct Enumeration {
  std::vector<Sketch> sketches;  // in the order of their first sequence
  std::vector<DroppedSequence> dropped;
  std::vector<Schedule::Declined> declined;  // why modules left blocks alone, each reason once
  bool complete = true;                      // false: there are more sequences than the limit
};

absl::StatusOr<Enumeration> Enumerate(const SpaceFunction& space, const Program& program,
                                      const Target& target, const EnumerateOptions& options = {});

}  // namespace kiln
