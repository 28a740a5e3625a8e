// Equivalence by running (design D9): where to look, and how far results of a correct program may be from the
// original's: what runners and the interpreter's checks compare with. (Sums of floats may be made in any
// order, and products and sums may be fused.)
//
// A found element agrees when |found - wanted| <= absolute + relative * |wanted|; integers must be equal.
//
// The bounds are for inputs drawn from [-1, 1], and are made by carrying a typical magnitude and error
// forward through the original's blocks: an operation adds the rounding of its dtype, n terms of random sign
// with errors e sum to an error of e√n, of one sign to e·n. A reduction of n terms of magnitude m adds at
// most ε·m·n; where they have one sign also (εn)²/256 of the sum, for what is small beside the sum so far
// loses its last places: more than the rest from a million terms of f32 on. What is measured stays several
// times below; an element that lacks one of a thousand terms is far above it in f32 (one of a hundred in
// sums of millions), and is not seen in f16 or bf16 sums of that length.
//
// Pure; any number of threads.
#pragma once

#include <vector>

#include "lang/program/program.h"

namespace kiln {

struct OutputTolerance {
  Id buffer = kNone;
  double absolute = 0, relative = 0;
  int64_t longest_reduction = 0;  // terms on the longest chain of reductions that feeds it, added up
};

// One for each output, in the order of Program::parameters.
std::vector<OutputTolerance> ToleranceFor(const Program& original);

// Programs may compute an extremum of floats and subtract it from what it is of, so that their value does not
// depend on it while inputs are close to each other. How many sets of inputs that lie far apart a candidate
// is to be run with besides, some milliseconds of them: none for other programs, and for those that cast
// floats to integers, which only some floats fit.
int WideSets(const Program& original);

struct Element {
  Id buffer = kNone;
  std::vector<int64_t> index;
  friend bool operator==(const Element& a, const Element& b) {
    return a.buffer == b.buffer && a.index == b.index;
  }
};

// n different elements of each output: up to a quarter of them its corners, up to a half where tiles of the
// program begin and end, the others at random. All elements where there are no more than n.
std::vector<Element> ChooseElements(const Program& scheduled, int n, uint64_t seed);

}  // namespace kiln
