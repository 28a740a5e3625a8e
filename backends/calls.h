// What calls of intrinsics ask of a machine and of a program.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lang/program.h"

namespace kiln {

// features: LLVM's, such as "+avx2,+avx512vnni".
inline bool HasFeature(const std::string& features, absl::string_view feature) {
  const std::vector<absl::string_view> all = absl::StrSplit(features, ',');
  return std::find(all.begin(), all.end(), absl::StrCat("+", feature)) != all.end();
}

inline Id OnlyChild(const Program& p, Id node) {
  const Id child = p.nodes[node].first;
  return child != kNone && p.nodes[child].next == kNone ? child : kNone;
}

inline Id LoadUnderCast(const Program& p, Id expr) {
  while (p.exprs[expr].op == Op::kCast || p.exprs[expr].op == Op::kCastUnsigned) expr = p.exprs[expr].a;
  return p.exprs[expr].op == Op::kLoad ? expr : kNone;
}

}  // namespace kiln
