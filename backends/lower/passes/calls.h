// Helpers that emit calls of intrinsics: they match the shape of a program's nodes.
#pragma once

#include "lang/program/program.h"
#include "lang/target/cpu_features.h"

namespace kiln {

inline Id OnlyChild(const Program& p, Id node) {
  const Id child = p.nodes[node].first;
  return child != kNone && p.nodes[child].next == kNone ? child : kNone;
}

inline Id LoadUnderCast(const Program& p, Id expr) {
  while (p.exprs[expr].op == Op::kCast || p.exprs[expr].op == Op::kCastUnsigned)
    expr = p.exprs[expr].operand(0);
  return p.exprs[expr].op == Op::kLoad ? expr : kNone;
}

}  // namespace kiln
