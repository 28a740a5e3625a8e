// Equivalence by running (design D9): which elements to compare, and how far the results of a correct
// program may be from the original's. Runners and the interpreter's checks use it. (A schedule may reorder
// sums of floats and may fuse multiplications with additions.)
//
// A found element agrees when |found - wanted| <= absolute + relative * |wanted|; integers must be equal.
//
// The bounds hold for inputs drawn from [-1, 1]. The estimator carries a typical magnitude and error forward through
// the original's blocks. An operation adds the rounding of its dtype. The errors e of n terms of random sign add up to
// e√n, those of one sign to e·n. A reduction of n terms of magnitude m adds ε·m·n. If the terms have one sign, it also
// adds √n/4 times as much, and (εn)²/256 of the sum, because terms that are small compared to the running sum lose
// their last digits. From a million f32 terms on, this last part dominates.
//
// Measured errors stay several times below the bound. An f32 element that lacks one of a thousand terms (one
// of a hundred in sums of millions) is far above the bound. In f16 or bf16 sums of that length, a missing
// term stays unnoticed.
//
// Pure; any number of threads.
#pragma once

#include <vector>

#include "lang/program/program.h"

namespace kiln {

struct OutputTolerance {
  Id buffer = kNone;
  double absolute = 0, relative = 0;
  // Sum of the numbers of terms of the reductions on the longest chain of reductions that feeds the output.
  int64_t longest_reduction = 0;
};

// Returns one tolerance for each output, in the order of Program::parameters. That of an integer output is 0.
std::vector<OutputTolerance> ToleranceFor(const Program& original);

// Returns how many additional input sets with widely spread values a candidate must be run on: 1 to 32 if a block reads
// the result of a minimum, maximum or custom reduction of floats, otherwise 0. Some such programs subtract the extremum
// from the values it was taken over, as softmax does. Their result barely depends on the extremum while the inputs are
// close to each other, so a wrong extremum would go unnoticed. The more elements and operations the program has, the
// fewer the sets. Returns 0 also for programs that cast floats to integers, since a cast is defined only for some
// floats.
int StressSets(const Program& original);

struct Element {
  Id buffer = kNone;
  std::vector<int64_t> index;
  friend bool operator==(const Element& a, const Element& b) {
    return a.buffer == b.buffer && a.index == b.index;
  }
};

// Returns n different elements of each output. At most about a quarter are corners. At least about a quarter are
// random. The others lie where tiles of the program begin or end, or are random if there are no more of these. Returns
// all elements of an output that has at most n.
std::vector<Element> ChooseElements(const Program& scheduled, int n, uint64_t seed);

}  // namespace kiln
