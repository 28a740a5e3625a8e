// Compares blocks of a model that may become one, such as products of one operand with several constants.
#pragma once

#include "absl/functional/function_ref.h"
#include "lang/program/program.h"

namespace kiln {

// True if the block has no conditions on its iters, contains no other blocks, and writes one result: a temporary that
// no other block writes.
bool IsSimple(const Program& program, Id block);
// IsSimpleSum is true if IsSimple is, and the block is a sum, with or without initial values, that continues no sum of
// another block. IsSimpleStore is true if IsSimple is, and the block does not reduce.
bool IsSimpleSum(const Program& program, Id block);
bool IsSimpleStore(const Program& program, Id block);

// For a block with one result: ResultOf returns the buffer that it writes, ResultIndex the index at which it writes.
Id ResultOf(const Program& program, Id block);
Range ResultIndex(const Program& program, Id block);

bool SameIndex(const Program& program, Range a, Range b);

// What may differ between two expressions: loads for which `load` returns true count as the same. Guards (kWithin)
// count as the same if their marks and extents are equal, and if `guard` returns true for the marks of the first.
struct MayDiffer {
  absl::FunctionRef<bool(const Expr& a, const Expr& b)> load;
  absl::FunctionRef<bool(Range marks)> guard;
};
// True if both expressions have the same operations, dtypes and constants, and `may_differ` accepts each pair of loads
// and of guards. False if they contain a gather or an index value (kIndex).
bool SameExpr(const Program& program, Id a, Id b, const MayDiffer& may_differ);

}  // namespace kiln
