#include "tests/support/exact_results.h"

#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/annotations.h"
#include "lang/analysis/dataflow.h"
#include "lang/program/start.h"

namespace kiln {
namespace {

// True if the reduction of the block may write zeros of either sign: a maximum or minimum over floats may take either
// of two zeros (backends/lower/emit/emit_expr.cc), and a float sum that may leave out zero terms may keep its start of
// -0.0 (docs/decisions/0017). False for a block without a reduction.
bool LeavesZeroOpen(const Program& p, Id block) {
  const BlockNode& b = p.block(block);
  if (b.monoid == kNone) return false;
  const Monoid& monoid = p.monoids[b.monoid];
  const bool starts = b.accumulates || absl::c_any_of(p.List(b.initial), [&](Id start) {
                        const Expr& e = p.exprs[start];
                        return e.op != Op::kConstant || e.IsConstant(NeutralBits(p, monoid, 0));
                      });
  if (IsFloatSum(p, monoid) && starts && AnnotationOf(p, b.annotations, kAssumeFinite) != 0) return true;
  return absl::c_any_of(p.List(monoid.combine), [&](Id e) {
    return IsFloat(p.exprs[e].dtype) && (p.exprs[e].op == Op::kMax || p.exprs[e].op == Op::kMin);
  });
}

template <typename T>
std::string Difference(const char* found, const std::string& wanted, bool either_zero) {
  for (size_t at = 0; at < wanted.size(); at += sizeof(T)) {
    T one, other;
    std::memcpy(&one, found + at, sizeof(T));
    std::memcpy(&other, wanted.data() + at, sizeof(T));
    if (std::memcmp(&one, &other, sizeof(T)) == 0 || (one != one && other != other)) continue;
    if (either_zero && one == 0 && other == 0) continue;
    return absl::StrCat("element ", at / sizeof(T), " is ", one, ", not ", other);
  }
  return "";
}

}  // namespace

std::set<Id> EitherZero(const Program& p) {
  std::set<Id> either;
  for (size_t before = 1; before != either.size();) {  // repeats, since loops may repeat blocks
    before = either.size();
    for (const Id block : Blocks(p)) {
      const auto reads = ReadBuffers(p, block);
      if (!LeavesZeroOpen(p, block) && !absl::c_any_of(reads, [&](Id b) { return either.count(b) != 0; }))
        continue;
      for (const Id written : WrittenBuffers(p, block))
        if (IsFloat(p.buffers[written].dtype)) either.insert(written);
    }
  }
  return either;
}

std::string Difference(DType type, const char* found, const std::string& wanted, bool either_zero) {
  if (type == DType::kF64) return Difference<double>(found, wanted, either_zero);
  if (type == DType::kF32) return Difference<float>(found, wanted, either_zero);
  if (type == DType::kI32) return Difference<int32_t>(found, wanted, false);
  if (type == DType::kI64) return Difference<int64_t>(found, wanted, false);
  return std::memcmp(found, wanted.data(), wanted.size()) == 0 ? "" : "an element is not the interpreter's";
}

}  // namespace kiln
