// Answers questions about integer points with the algebra of index maps. The cost does not depend on the
// extents. The functions give no answer where the algebra does not know. A part of validator/proof/proof.h.
#pragma once

#include "validator/proof/prover.h"

namespace kiln::proof {

// Returns inclusive bounds of the values that a sum takes at the points. They follow from the extents of the variables,
// and from conditions and definitions with similar sums. The bounds may be too wide, never too narrow.
Interval BoundsOn(const Points& points, const IndexSum& value);

// Returns the same points with smaller extents, where conditions bound a variable.
Points Tighten(Points points);

// Replaces each source of a sum by the sum value(source) over the points, which must lie in the source's extent at
// every point that counts. If the algebra cannot express a remainder or quotient, adds a variable for its operand to
// `points`. Returns nullopt if that operand may be negative.
std::optional<IndexSum> Replace(Points& points, const IndexSum& sum,
                                absl::FunctionRef<IndexSum(Source)> value, ExtentOf extent_of);

// Returns a value for each variable of g, a sum over `points`, such that the results of g equal `results`. Defined
// variables get values too. A variable that nothing determines is 0. May add variables to `points`. The values are only
// a proposal: the caller must check extents, definitions, conditions and results. Returns nullopt if it finds no
// solution.
std::optional<std::vector<IndexSum>> Solve(Points& points, const std::vector<IndexSum>& results,
                                           const Relation& g);

// Returns a relation with the same results that depends on fewer variables: a variable that is defined as a number in a
// mixed radix of others (t = y*32 + x with x < 32) becomes free, and these others are replaced by its digits (y = t/32,
// x = t%32). Leaves a variable as it is if some sum cannot express its digits.
Relation JoinDigits(Relation relation);

// Returns true if it is proven that two points with equal results have equal values of the given variables, each of
// which is given as a sum.
bool DeterminedBy(const Relation& f, const std::vector<IndexSum>& variables);

// Returns true if it is proven that no point of one relation has the same results as a point of the other.
bool Apart(const Relation& a, const Relation& b);

}  // namespace kiln::proof
