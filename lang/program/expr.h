// Expressions: the bodies of blocks and the combinations of monoids. Nodes of one pool (Program::exprs),
// addressed by id, shared where equal.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "lang/program/dtype.h"
#include "lang/program/ids.h"

namespace kiln {

enum class Op : uint8_t {
  // leaves
  kConstant,  // bits: the value (double for floats, int64 otherwise, as bits)
  kIndex,     // value of mark a, as an index
  kLoad,      // buffer a at the marks of Range{b, c} in Program::lists
  kArg,       // in a monoid's combine: result r of the left (bits = r) or right (bits = results + r) operand
  // A read at computed indices: the buffer `bits` at the index values that a is (Program::GatherIndex).
  // An index outside of its dimension reads the nearest element, so that a gather is safe whatever the data.
  kGather,
  kTuple,  // the indices of a gather of rank 2 and more: those of a, then b; nothing else uses it
  // Lazy: value a where every mark of Range{lists} = (begin, count) packed in bits lies in its extent,
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

struct Expr {
  Op op = Op::kConstant;
  DType dtype = DType::kF32;
  Id a = kNone, b = kNone, c = kNone;
  int64_t bits = 0;
};

// The buffer that an expression itself reads, by a load or a gather, or kNone.
Id BufferRead(const Expr& e);

}  // namespace kiln
