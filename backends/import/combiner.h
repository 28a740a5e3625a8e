// Recognizes the monoid of a reduction in the body of a linalg.generic.
#pragma once

#include <optional>

#include "lang/program/program.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Value.h"

namespace kiln {

// new accumulator = old accumulator (+) terms[0] (+) terms[1] ...
struct Combiner {
  struct Term {
    mlir::Value value;
    bool negated = false;     // subtracted from a sum
    mlir::Value factor = {};  // of a fused multiply-add: the term is value * factor
  };
  Monoid::Kind kind = Monoid::Kind::kSum;  // kCustom: exclusive or
  bool is_unsigned = false;                // maxima and minima of integers read without sign
  llvm::SmallVector<Term, 2> terms;
  // NaN among the terms is skipped (max and min that prefer the number), where the monoid's own max and min
  // would propagate it.
  bool skips_nan = false;
  // An accumulator that is NaN gives way to any number, so that NaN is a start (maxnumf, minnumf). Kiln then
  // says the monoid's identity, which differs where all terms are NaN: there the result is the identity
  // instead of NaN.
  bool starts_from_nan = false;
};

// `result` is yielded, `accumulator` the block argument of the same output. nullopt: no monoid that Kiln has.
std::optional<Combiner> Recognize(mlir::Value result, mlir::Value accumulator);

// True if `value` is computed from `argument` within the argument's block.
bool DependsOn(mlir::Value value, mlir::Value argument);

}  // namespace kiln
