#include "search/features/operations.h"

namespace kiln {
namespace {

constexpr int kNothing = -1;

// Returns true for operations that a mathematical library computes, such as exp and sqrt.
bool IsSpecial(Op op) {
  switch (op) {
    case Op::kPow:
    case Op::kAtan2:
    case Op::kExp:
    case Op::kExp2:
    case Op::kExpm1:
    case Op::kLog:
    case Op::kLog2:
    case Op::kLog10:
    case Op::kLog1p:
    case Op::kSqrt:
    case Op::kRsqrt:
    case Op::kCbrt:
    case Op::kSin:
    case Op::kCos:
    case Op::kTan:
    case Op::kAtan:
    case Op::kTanh:
    case Op::kErf:
    case Op::kSinh:
    case Op::kCosh:
    case Op::kAsin:
    case Op::kAcos:
    case Op::kAsinh:
    case Op::kAcosh:
    case Op::kAtanh:
    case Op::kErfc:
      return true;
    default:
      return false;
  }
}

int KindOf(Op op, bool is_float) {
  switch (op) {
    case Op::kConstant:
    case Op::kIndex:
    case Op::kLoad:
    case Op::kArg:
    case Op::kGather:
    case Op::kTuple:
    case Op::kBitcast:
      return kNothing;
    case Op::kWithin:
      return kWithins;
    case Op::kSelect:
      return kSelects;
    case Op::kCast:
    case Op::kCastUnsigned:
      return kCasts;
    case Op::kAdd:
    case Op::kSub:
      return is_float ? kFloatAdd : kIntAdd;
    case Op::kMul:
      return is_float ? kFloatMul : kIntMul;
    case Op::kFma:
      return kFloatFma;
    case Op::kDiv:
    case Op::kRem:
    case Op::kDivU:
    case Op::kRemU:
    case Op::kFloorDiv:
    case Op::kCeilDiv:
      return is_float ? kFloatDiv : kIntDiv;
    case Op::kMax:
    case Op::kMin:
    case Op::kMaxNum:
    case Op::kMinNum:
    case Op::kMaxU:
    case Op::kMinU:
      return is_float ? kFloatCompare : kIntCompare;
    default:
      if (IsSpecial(op)) return kFloatSpecial;
      return is_float ? kFloatOther : kIntOther;
  }
}

void CountCombine(const Program& p, Id expr, Operations& operations) {
  const Expr& e = p.exprs[expr];
  if (e.Operands().empty()) return;
  const int kind = KindOf(e.op, IsFloat(p.exprs[e.operand(0)].dtype));
  if (kind != kNothing) ++operations.counts[kind];
  for (const Id operand : e.Operands()) CountCombine(p, operand, operations);
}

}  // namespace

CallAround FindCallAround(const Program& p, Id block) {
  CallAround call;
  for (Id node = p.nodes[block].parent; node != kNone; node = p.nodes[node].parent) {
    if (p.IsLoop(node)) ++call.loops;
    if (!p.IsBlock(node)) continue;
    if (p.block(node).intrinsic != kNone)
      call.family = FamilyThatComputesWith(p.Text(p.block(node).intrinsic));
    break;
  }
  if (call.family != nullptr && call.family->k > 1) return call;
  return {};
}

Operations CountOperations(const LoopNestSummary& nests, const NestBlock& block) {
  const Program& p = nests.program();
  const BlockNode& b = p.block(block.node);
  Operations result;
  double* counts = result.counts;
  if (const CallAround call = FindCallAround(p, block.node); call.family != nullptr) {
    // Counts an instance inside an intrinsic call as 1/k of a fused multiply-add, since an instruction sums k products.
    // This includes the conversion of operands to a wider type.
    counts[kFloatFma] = 1.0 / static_cast<double>(call.family->k);
    result.arithmetic = 2;
    return result;
  }
  for (const Id id : nests.exprs(block)) {
    const Expr& e = p.exprs[id];
    if (e.Operands().empty()) continue;
    const int kind = KindOf(e.op, IsFloat(p.exprs[e.operand(0)].dtype));
    if (kind != kNothing) ++counts[kind];
  }
  if (b.monoid != kNone) {
    const Monoid& monoid = p.monoids[b.monoid];
    for (const Id expr : p.List(monoid.combine)) CountCombine(p, expr, result);
    const Expr& lift = p.exprs[p.List(b.values)[0]];
    if (monoid.kind == Monoid::Kind::kSum && lift.op == Op::kMul && IsFloat(lift.dtype)) {
      --counts[kFloatAdd];
      --counts[kFloatMul];
      ++counts[kFloatFma];
    }
  }
  for (int kind = kFloatAdd; kind <= kIntOther; ++kind)
    result.arithmetic += counts[kind] * (kind == kFloatFma ? 2 : 1);
  return result;
}

}  // namespace kiln
