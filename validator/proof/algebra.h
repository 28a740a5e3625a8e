// Answers questions about integer points with the algebra of index maps. The cost does not depend on the
// extents. The functions give no answer where the algebra does not know. A part of validator/proof/proof.h.
#pragma once

#include "validator/proof/prover.h"

namespace kiln::proof {

// Returns inclusive bounds of a sum over the points. They follow from the box and from conditions whose sums
// differ little from this one. The bounds may be too wide, never too narrow.
Interval BoundsOn(const Points& points, const IndexSum& value);

// Returns the same points with smaller extents, where conditions bound a variable.
Points Tighten(Points points);

// Replaces the sources of a sum by sums over the points. At every point that counts, these must lie in the
// extents of the sources. If the algebra cannot express a remainder or quotient, the function adds a
// variable for its operand. Returns nullopt if that operand may be negative.
std::optional<IndexSum> Replace(Points& points, const IndexSum& sum,
                                absl::FunctionRef<IndexSum(Source)> value, ExtentOf extent_of);

// Returns values for the variables of g at which the results of g equal `results` (sums over `points`),
// without the defined variables. This is only a proposal: the caller must check that the values lie in their
// ranges and give the results. Variables that no result names are 0. Returns nullopt if no solution is
// found.
std::optional<std::vector<IndexSum>> Solve(Points& points, const std::vector<IndexSum>& results,
                                           const Relation& g);

// Returns a relation with the same results, of fewer variables: a variable that is defined as a number in a mixed
// radix of others (t = y*32 + x with x < 32) becomes free, and these are its digits (y = t/32, x = t%32).
Relation JoinDigits(Relation relation);

// Returns true if it is proven that two points with equal results have equal values of these variables. Each
// variable is given as a sum.
bool DeterminedBy(const Relation& f, const std::vector<IndexSum>& variables);

// Returns true if it is proven that no point of one relation has the same results as a point of the other.
bool Apart(const Relation& a, const Relation& b);

}  // namespace kiln::proof
