// Recognizes argmax and argmin in the body of a linalg.generic:
// a value and an index that are reduced together.
#pragma once

#include <optional>

#include "lang/program/program.h"
#include "mlir/IR/Value.h"

namespace kiln {

// The (value, index) pair with the greatest (kMax) or least (kMin) value.
struct ArgReduction {
  // What a NaN does to the index.
  enum class NaN {
    kSkipped,  // a NaN never wins, in the value neither
    kWins,     // the index is that of the first NaN, of the last one where `last`
    kStops,    // the value becomes NaN; the index stays what it was before the first NaN
  };
  Monoid::Kind kind = Monoid::Kind::kMax;
  mlir::Value value, index;  // what an instance adds
  bool last = false;         // among equal values the greatest index wins, else the least
  bool by_order = false;     // "greatest" and "least" mean last and first in the order of the iterations
  bool is_unsigned = false;  // compares integers without sign
  NaN nan = NaN::kWins;
};

// `value` and `index` are yielded, the accumulators are the block arguments of the same outputs.
std::optional<ArgReduction> RecognizeArg(mlir::Value value, mlir::Value value_accumulator, mlir::Value index,
                                         mlir::Value index_accumulator);

}  // namespace kiln
