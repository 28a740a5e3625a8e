// Single values of every dtype, as the reference interpreter computes them: in double or in 64-bit integers,
// rounded or wrapped to the dtype after each operation. The code aims for correctness and shares nothing
// with the backends.
//
// f32, f16 and bf16 round to nearest even. Functions such as exp are evaluated in double and rounded once.
// Integers wrap. i8, i16, i32, i64 and index are held sign-extended, u8 and i1 zero-extended. If an
// operation is undefined (division by zero, shifts beyond the width, floats beyond an integer's range), the
// result is some value that is the same on every machine.
#pragma once

#include <cstdint>

#include "lang/program/expr.h"

namespace kiln {

union Scalar {
  double f;   // value of a float dtype
  int64_t i;  // value of any other dtype
};

// RoundFloat returns the value of the float dtype that is nearest to `value`. WrapInteger returns the value of the
// integer dtype that equals `value` modulo 2^width: sign-extended, but zero-extended for u8 and i1.
double RoundFloat(DType type, double value);
int64_t WrapInteger(DType type, int64_t value);

// Returns the value of a constant expression, rounded (floats) or wrapped (integers) to its dtype.
Scalar ConstantValue(const Expr& constant);

// LoadScalar and StoreScalar read and write the element in memory at `element`, little endian. An i1 is a byte: any but
// 0 loads as 1. Every NaN of f16 or bf16 loads and is stored as a quiet NaN.
Scalar LoadScalar(DType type, const char* element);
void StoreScalar(DType type, Scalar value, char* element);

// A function that computes one operation on up to three operands. The result is not yet rounded or wrapped to its
// dtype; RoundScalar does that.
using ScalarFunction = Scalar (*)(Scalar a, Scalar b, Scalar c);
// HasFunction is true if the operation is defined on operands of `operand_type` (for kSelect, the type of b and c). It
// is false for leaves, gathers, tuples, kWithin and casts. FunctionOf returns its function, and aborts if there is
// none.
bool HasFunction(Op op, DType operand_type);
ScalarFunction FunctionOf(Op op, DType operand_type);

// Converts a value between dtypes as the operation `op` does: kCast, kCastUnsigned or kBitcast. Except by kBitcast, a
// float becomes an integer by truncation to 64 bits (saturated; NaN gives 0), which then wraps to the width of `to`.
Scalar CastScalar(Op op, DType from, DType to, Scalar value);

// Rounds (floats) or wraps (integers) the result of an operation's function to its dtype.
inline Scalar RoundScalar(DType type, Scalar value) {
  if (type == DType::kF32) {
    value.f = static_cast<float>(value.f);
  } else if (type == DType::kI64 || type == DType::kF64 || type == DType::kIndex) {
    return value;
  } else if (IsFloat(type)) {
    value.f = RoundFloat(type, value.f);
  } else {
    value.i = WrapInteger(type, value.i);
  }
  return value;
}

}  // namespace kiln
