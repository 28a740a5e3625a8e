// Compares blocks of a model that may become one, such as products of one operand with several constants.
#pragma once

#include "absl/functional/function_ref.h"
#include "lang/program/program.h"

namespace kiln {

// True if the block runs over a box of instances and writes one result, which is a temporary that nothing else writes.
bool IsSimple(const Program& program, Id block);
// Such a block that sums, from its initial values if it has some, or that stores.
bool IsSimpleSum(const Program& program, Id block);
bool IsSimpleStore(const Program& program, Id block);

// The result of a simple block, and where it is written.
Id ResultOf(const Program& program, Id block);
Range ResultIndex(const Program& program, Id block);

bool SameIndex(const Program& program, Range a, Range b);

// What may differ between two expressions: loads for which `load` returns true count as the same. A guard counts as the
// same if its marks are, and if `guard` returns true for them.
struct MayDiffer {
  absl::FunctionRef<bool(const Expr& a, const Expr& b)> load;
  absl::FunctionRef<bool(Range marks)> guard;
};
// True if both expressions compute the same of what they load.
bool SameExpr(const Program& program, Id a, Id b, const MayDiffer& may_differ);

}  // namespace kiln
