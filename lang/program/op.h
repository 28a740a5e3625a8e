// The operations of expressions (lang/program/expr.h): their meaning in the enum,
// their names and numbers of operands in one table (lang/program/op.cc).
// Hashes and serialized programs hold the enumerators as numbers: new ones come last.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace kiln {

enum class Op : uint8_t {
  // leaves
  kConstant,  // its bits are those of a double for floats, else of an int64
  kIndex,     // value of a mark, as an index
  kLoad,      // a buffer at marks, one per dimension
  kArg,       // in a monoid's combine: result r of the left (number r) or right (number results + r) operand
  // A read of a buffer at computed indices (Program::GatherIndex).
  // An index outside of its dimension reads the nearest element, so that a gather is safe whatever the data.
  kGather,
  kTuple,  // the indices of a gather of rank 2 and more: those of a, then b; nothing else uses it
  // Lazy: operand a where every one of its marks lies in its extent,
  // else b. a is not evaluated elsewhere, so that its loads may be out of range there: how padding is said.
  kWithin,
  kSelect,        // a ? b : c
  kCast,          // a to dtype; floats round; integers by value: narrowing wraps, i8/i16/i32/i64 sign-extend,
                  // u8/i1 zero-extend
  kCastUnsigned,  // a to dtype, reading a's bits as unsigned
  kBitcast,
  // comparisons: dtype is i1, operands share a type. kCmpU*: integers as unsigned; for floats the
  // "unordered or" forms.
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
  // arithmetic; kMax/kMin propagate NaN on floats, kMaxNum/kMinNum prefer the number
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
  // unary
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
  kCtpop,  // set bits; zeros before the first and after the last, of the type's width
  kCtlz,
  kCttz,
};
inline constexpr int kNumOps = static_cast<int>(Op::kCttz) + 1;

// "add"; the text form's spelling.
absl::string_view ToString(Op op);
// Number of expression operands (of a, b, c); 0 for leaves, 2 for kWithin, 3 for kSelect and kFma.
int Arity(Op op);
// Whether it compares: its dtype is i1, and its operands share one.
inline bool IsComparison(Op op) { return op >= Op::kCmpEq && op <= Op::kCmpUno; }

}  // namespace kiln
