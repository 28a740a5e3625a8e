// Recognizes argmax and argmin in the body of a linalg.generic, where a value and an index are reduced together.
#pragma once

#include <optional>

#include "lang/program/program.h"
#include "mlir/IR/Value.h"

namespace kiln {

// A recognized argmax or argmin: which (value, index) pair wins. That is the pair with the largest (kMax) or smallest
// (kMin) value, by the rules below for ties and NaN.
struct ArgReduction {
  // How a NaN among the values affects an argmax or argmin: it is skipped, it wins, or it ends the search.
  enum class NaN {
    kSkipped,  // a NaN never wins: the value and the index both skip it
    kWins,     // the index is that of the first NaN (with `last`, of the last one)
    kStops,    // the value becomes NaN; the index is that of the best value before the first NaN
  };
  Monoid::Kind kind = Monoid::Kind::kMax;
  mlir::Value value, index;  // the operands of the reduction
  bool last = false;         // among equal values the largest index wins; otherwise the smallest
  bool by_order = false;     // "largest" and "smallest" index mean last and first iteration
  bool is_unsigned = false;  // compares integers as unsigned
  NaN nan = NaN::kWins;
};

// Recognizes an argmax or argmin from two yielded values of a body, `value` and `index`; nullopt if they are none. The
// accumulators are the block arguments of the same outputs.
std::optional<ArgReduction> RecognizeArg(mlir::Value value, mlir::Value value_accumulator, mlir::Value index,
                                         mlir::Value index_accumulator);

}  // namespace kiln
