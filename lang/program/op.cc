#include "lang/program/op.h"

#include "lang/base/check.h"

namespace kiln {
namespace {

struct Row {
  Op op;
  absl::string_view name;
  int arity;
};

constexpr Row kRows[] = {
    {Op::kConstant, "const", 0},    {Op::kIndex, "index", 0},
    {Op::kLoad, "load", 0},         {Op::kArg, "arg", 0},
    {Op::kGather, "gather", 1},     {Op::kTuple, "tuple", 2},
    {Op::kWithin, "within", 2},     {Op::kSelect, "select", 3},
    {Op::kCast, "cast", 1},         {Op::kCastUnsigned, "cast-unsigned", 1},
    {Op::kBitcast, "bitcast", 1},   {Op::kCmpEq, "eq", 2},
    {Op::kCmpNe, "ne", 2},          {Op::kCmpLt, "lt", 2},
    {Op::kCmpLe, "le", 2},          {Op::kCmpGt, "gt", 2},
    {Op::kCmpGe, "ge", 2},          {Op::kCmpULt, "ult", 2},
    {Op::kCmpULe, "ule", 2},        {Op::kCmpUGt, "ugt", 2},
    {Op::kCmpUGe, "uge", 2},        {Op::kCmpUEq, "ueq", 2},
    {Op::kCmpUNe, "une", 2},        {Op::kCmpOrd, "ord", 2},
    {Op::kCmpUno, "uno", 2},        {Op::kAdd, "add", 2},
    {Op::kSub, "sub", 2},           {Op::kMul, "mul", 2},
    {Op::kDiv, "div", 2},           {Op::kRem, "rem", 2},
    {Op::kMax, "max", 2},           {Op::kMin, "min", 2},
    {Op::kMaxNum, "maxnum", 2},     {Op::kMinNum, "minnum", 2},
    {Op::kPow, "pow", 2},           {Op::kAtan2, "atan2", 2},
    {Op::kCopysign, "copysign", 2}, {Op::kFma, "fma", 3},
    {Op::kDivU, "divu", 2},         {Op::kRemU, "remu", 2},
    {Op::kMaxU, "maxu", 2},         {Op::kMinU, "minu", 2},
    {Op::kFloorDiv, "floordiv", 2}, {Op::kCeilDiv, "ceildiv", 2},
    {Op::kAnd, "and", 2},           {Op::kOr, "or", 2},
    {Op::kXor, "xor", 2},           {Op::kShl, "shl", 2},
    {Op::kShr, "shr", 2},           {Op::kShrU, "shru", 2},
    {Op::kNeg, "neg", 1},           {Op::kAbs, "abs", 1},
    {Op::kExp, "exp", 1},           {Op::kExp2, "exp2", 1},
    {Op::kExpm1, "expm1", 1},       {Op::kLog, "log", 1},
    {Op::kLog2, "log2", 1},         {Op::kLog10, "log10", 1},
    {Op::kLog1p, "log1p", 1},       {Op::kSqrt, "sqrt", 1},
    {Op::kRsqrt, "rsqrt", 1},       {Op::kCbrt, "cbrt", 1},
    {Op::kSin, "sin", 1},           {Op::kCos, "cos", 1},
    {Op::kTan, "tan", 1},           {Op::kAtan, "atan", 1},
    {Op::kTanh, "tanh", 1},         {Op::kErf, "erf", 1},
    {Op::kFloor, "floor", 1},       {Op::kCeil, "ceil", 1},
    {Op::kRound, "round", 1},       {Op::kRoundEven, "roundeven", 1},
    {Op::kTrunc, "trunc", 1},       {Op::kNot, "not", 1},
    {Op::kSinh, "sinh", 1},         {Op::kCosh, "cosh", 1},
    {Op::kAsin, "asin", 1},         {Op::kAcos, "acos", 1},
    {Op::kAsinh, "asinh", 1},       {Op::kAcosh, "acosh", 1},
    {Op::kAtanh, "atanh", 1},       {Op::kErfc, "erfc", 1},
    {Op::kCtpop, "ctpop", 1},       {Op::kCtlz, "ctlz", 1},
    {Op::kCttz, "cttz", 1},
};
static_assert(sizeof(kRows) / sizeof(kRows[0]) == kNumOps);

const Row& RowOf(Op op) {
  const Row& row = kRows[static_cast<int>(op)];
  KILN_CHECK(row.op == op, "the table of operations is out of order");
  return row;
}

}  // namespace

absl::string_view ToString(Op op) { return RowOf(op).name; }

int Arity(Op op) { return RowOf(op).arity; }

}  // namespace kiln
