// Recognizes argmax and argmin in the body of a linalg.generic: a value and an index that are reduced
// together.
#pragma once

#include <optional>

#include "lang/program.h"
#include "mlir/IR/Value.h"

namespace kiln {

// The (value, index) pair with the greatest (kMax) or least (kMin) value.
//
// What the source says of equal values is kept: `last` or not, by comparing indices or by the order of its
// loops. NaN that never wins is kept too. Where a NaN propagates to the value, no two sources agree on the
// index (mostly it depends on what came before the first NaN, which no order-free reduction can say): Kiln
// gives that of the first NaN, as numpy and PyTorch do, or of the last one where `last`.
struct ArgReduction {
  Monoid::Kind kind = Monoid::Kind::kMax;
  mlir::Value value, index;  // what an instance adds
  bool last = false;         // among equal values the greatest index wins, else the least
  bool by_order =
      false;  // the source goes by the order of its iterations: valid if the index grows with them
  bool skips_nan = false;
};

// `value` and `index` are yielded, the accumulators are the block arguments of the same outputs.
std::optional<ArgReduction> RecognizeArg(mlir::Value value, mlir::Value value_accumulator, mlir::Value index,
                                         mlir::Value index_accumulator);

}  // namespace kiln
