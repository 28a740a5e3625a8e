// Questions about points answered by the algebra of index maps, whatever the extents: fast, and silent where
// it does not know. A part of validator/proof/proof.h.
#pragma once

#include "validator/proof/prover.h"

namespace kiln::proof {

// Bounds of a sum over the points, from the box and from conditions that differ from it by little. Both
// inclusive; too wide at worst.
Interval BoundsOn(const Points& points, const Sum& value);

// Replaces the sources of a sum by sums over the points, which lie in the extents of the sources at every
// point that counts. A remainder or quotient that the algebra cannot express becomes one of a new variable;
// nullopt if it may be one of a negative number.
std::optional<Sum> Replace(Points& points, const Sum& sum, absl::FunctionRef<Sum(Source)> value,
                           ExtentOf extent_of);

// Values of the variables of g at which its results are `results`, sums over `points`; defined variables of g
// are left out. Only a proposal: that the values lie in their ranges and give the results is to be checked.
// nullopt if none is found. Variables that no result names are 0.
std::optional<std::vector<Sum>> Solve(Points& points, const std::vector<Sum>& results, const Relation& g);

// Proven: two points with equal results have equal values of these variables (sums that are one variable).
bool DeterminedBy(const Relation& f, const std::vector<Sum>& variables);

// Proven: no point of one relation has the results of a point of the other.
bool Apart(const Relation& a, const Relation& b);

}  // namespace kiln::proof
