// A candidate: what the search proposes to measure. It names a point of a space by its sketch and decisions.
#pragma once

#include <vector>

#include "lang/choices/distribution.h"

namespace kiln {

// A point of the search space, without its program.
struct Candidate {
  int sketch = 0;
  std::vector<Decision> decisions;  // of the sketch's sites, in order
  double energy = 0;                // lower is better, in units of the prior's spread (design D8)
  double doubt = 0;                 // of the model about it, in the same units
};

}  // namespace kiln
