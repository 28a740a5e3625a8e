#include "lang/program/expr.h"

namespace kiln {

bool DividesIntegers(const Expr& e) {
  switch (e.op) {
    case Op::kDiv:
    case Op::kRem:
      return !IsFloat(e.dtype);
    case Op::kDivU:
    case Op::kRemU:
    case Op::kFloorDiv:
    case Op::kCeilDiv:
      return true;
    default:
      return false;
  }
}

Id BufferRead(const Expr& e) {
  return e.op == Op::kLoad ? e.AsLoad().buffer : e.op == Op::kGather ? e.AsGather().buffer : kNone;
}

size_t Expr::Hash() const {
  uint64_t hash = static_cast<uint64_t>(op) << 8 | static_cast<uint64_t>(dtype);
  for (const uint64_t part :
       {static_cast<uint64_t>(static_cast<uint32_t>(ids_[0])) << 32 | static_cast<uint32_t>(ids_[1]),
        static_cast<uint64_t>(ids_[2]), static_cast<uint64_t>(bits_)}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace kiln
