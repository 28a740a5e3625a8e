// Recognizes which monoid a reduction in the body of a linalg.generic uses.
#pragma once

#include <optional>

#include "lang/program/program.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Value.h"

namespace kiln {

// A recognized reduction in the body of a linalg.generic: new accumulator = old accumulator (+) terms[0] (+) terms[1]
// ..., for a monoid (+).
struct Combiner {
  struct Term {
    mlir::Value value;
    bool negated = false;     // subtracted instead of added
    mlir::Value factor = {};  // for a fused multiply-add: the term is value * factor
  };
  Monoid::Kind kind = Monoid::Kind::kSum;  // kCustom: exclusive or
  bool is_unsigned = false;                // whether integer maxima and minima are unsigned
  llvm::SmallVector<Term, 2> terms;
  // True if the maximum or minimum skips NaN terms, unlike the max and min of Kiln's monoids.
  bool skips_nan = false;
  // True if any number replaces a NaN accumulator (maxnumf, minnumf), so that a reduction may start from NaN. Kiln then
  // starts from the monoid's identity. The result differs only if all terms are NaN: it is then the identity instead of
  // NaN.
  bool starts_from_nan = false;
};

// Recognizes the monoid with which a body combines values. Returns nullopt if it is none of Kiln's monoids, if several
// are mixed, if both operands of a step depend on the accumulator, or if the accumulator is subtracted. `result` is the
// yielded value, `accumulator` the block argument of the same output.
std::optional<Combiner> Recognize(mlir::Value result, mlir::Value accumulator);

// True if `value` is `argument` or is computed from it by operations in the argument's block.
bool DependsOn(mlir::Value value, mlir::Value argument);

}  // namespace kiln
