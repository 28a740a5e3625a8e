// A candidate: what the search proposes to measure. It names a point of a space by its sketch and decisions.
#pragma once

#include <vector>

#include "lang/choices/distribution.h"

namespace kiln {

// A point of the search space, without its program: a sketch, a decision for each sampling step of the sketch, and the
// energy and uncertainty that the model predicts.
struct Candidate {
  int sketch = 0;
  std::vector<Decision> decisions;  // one for each sampling step of the sketch, in order
  double energy = 0;                // lower is better, in units of the prior's spread (design D8)
  double uncertainty = 0;           // uncertainty of the model about this candidate, in the same units
};

}  // namespace kiln
