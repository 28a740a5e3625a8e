// The operations of expressions (lang/program/expr.h). The enum documents their meaning; one table
// (lang/program/op.cc) has their names and numbers of operands. Hashes and serialized programs hold the
// enumerators as numbers, so new ones must come last.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace kiln {

enum class Op : uint8_t {
  // Leaves: operations without operand expressions.
  kConstant,  // bits of a double for floats, else of an int64
  kIndex,     // the value of a mark, as an index
  kLoad,      // reads a buffer at marks, one per dimension
  kArg,       // in a monoid's combine: result r of the left (number r) or right (number results + r) operand
  // Reads a buffer at computed indices (Program::GatherIndex). An index outside its dimension reads the
  // nearest element, so a gather is safe for any data.
  kGather,
  kTuple,  // the indices of a gather of rank 2 or more: those of a, then b; no other use
  // kWithin: the value of operand a if all its marks (index values) lie in their extents, else the value of b. It is
  // lazy: where b is taken, a is not evaluated, so the loads in a may be out of range. It expresses padding.
  kWithin,
  kSelect,  // a ? b : c
  // Converts a to dtype: rounds to floats; truncates floats to integers. Between integers, narrowing wraps, and
  // widening zero-extends u8 and i1, and sign-extends i8, i16, i32 and i64.
  kCast,
  kCastUnsigned,  // like kCast, but integers count as unsigned (widening zero-extends)
  kBitcast,
  // Comparisons: dtype is i1, and both operands have the same type. kCmpOrd (no operand is NaN) and kCmpUno (an operand
  // is NaN) take floats. If an operand is NaN, the other kCmpU* are true, and the rest, kCmpNe included, are false.
  // kCmpU* compare integers as unsigned.
  kCmpEq,
  kCmpNe,
  kCmpLt,
  kCmpLe,
  kCmpGt,
  kCmpGe,
  kCmpULt,
  kCmpULe,
  kCmpUGt,
  kCmpUGe,
  kCmpUEq,
  kCmpUNe,
  kCmpOrd,
  kCmpUno,
  // Operations on two numbers (kFma: three). On floats, kMax and kMin return NaN if an operand is NaN; kMaxNum and
  // kMinNum then return the other operand. Operations with a name that ends in U take integers as unsigned.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem,
  kMax,
  kMin,
  kMaxNum,
  kMinNum,
  kPow,
  kAtan2,
  kCopysign,
  kFma,
  kDivU,
  kRemU,
  kMaxU,
  kMinU,
  kFloorDiv,
  kCeilDiv,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr,
  kShrU,
  // Operations with one operand: signs, functions, rounding to integers, and bits.
  kNeg,
  kAbs,
  kExp,
  kExp2,
  kExpm1,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kSqrt,
  kRsqrt,
  kCbrt,
  kSin,
  kCos,
  kTan,
  kAtan,
  kTanh,
  kErf,
  kFloor,
  kCeil,
  kRound,
  kRoundEven,
  kTrunc,
  kNot,
  kSinh,
  kCosh,
  kAsin,
  kAcos,
  kAsinh,
  kAcosh,
  kAtanh,
  kErfc,
  kCtpop,  // kCtpop counts set bits, kCtlz leading zeros, kCttz trailing zeros, in the type's width
  kCtlz,
  kCttz,
};
inline constexpr int kNumOps = static_cast<int>(Op::kCttz) + 1;

// Returns the name that an operation has in the text of a program, such as "add".
absl::string_view ToString(Op op);
// Returns how many of the operands a, b and c are expressions: 0 for leaves, 2 for kWithin, 3 for kSelect and kFma.
int Arity(Op op);
// True if the operation compares: its dtype is i1, and its operands have the same type.
inline bool IsComparison(Op op) { return op >= Op::kCmpEq && op <= Op::kCmpUno; }

}  // namespace kiln
