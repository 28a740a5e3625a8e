#include "lang/program/expr_copier.h"

#include <algorithm>
#include <vector>

namespace kiln {

Id ExprCopier::Copy(Id expr) {
  shares_ = rules_.written_out == 0 || TreeSize(expr) > rules_.written_out;
  return CopyNode(expr);
}

// Returns the number of nodes of the expression as a tree, but at most written_out + 1.
int64_t ExprCopier::TreeSize(Id expr) {
  if (const auto known = sizes_.find(expr); known != sizes_.end()) return known->second;
  int64_t size = 1;
  for (const Id operand : from_.exprs[expr].Operands()) size += TreeSize(operand);
  size = std::min(size, rules_.written_out + 1);
  return sizes_[expr] = size;
}

Id ExprCopier::CopyNode(Id expr) {
  if (!shares_) return Made(expr);
  if (const auto known = copies_.find(expr); known != copies_.end()) return known->second;
  const Id made = Made(expr);
  if (copies_.empty()) copies_.reserve(12);  // most bodies are small
  return copies_[expr] = made;
}

Range ExprCopier::Copy(Range exprs) {
  std::vector<int32_t> copies;
  for (int32_t i = 0; i < exprs.count; ++i) copies.push_back(Copy(from_.lists[exprs.begin + i]));
  return to_.AddList(copies);
}

Id ExprCopier::Made(Id expr) {
  if (const Id other = rules_.replace ? rules_.replace(expr) : kNone; other != kNone) return other;
  std::optional<Expr> copy = Named(Expr(from_.exprs[expr]));
  if (!copy.has_value()) return kNone;
  for (Id& operand : copy->Operands()) {
    operand = CopyNode(operand);
    if (operand == kNone) return kNone;
  }
  return to_.AddExpr(*copy);
}

// Returns the node with its marks and buffers replaced by those of `to`; nullopt if a rule refuses a mark.
std::optional<Expr> ExprCopier::Named(const Expr& node) {
  if (node.op == Op::kIndex && rules_.mark) {
    const Id mark = rules_.mark(node.AsIndex());
    return mark == kNone ? std::nullopt : std::optional(Expr::Index(mark));
  }
  if (node.op == Op::kLoad) {
    const auto [buffer, index] = node.AsLoad();
    const std::optional<Range> marks = rules_.index ? rules_.index(buffer, index) : Marks(index);
    if (!marks.has_value()) return std::nullopt;
    return Expr::Load(node.dtype, Buffer(buffer), *marks);
  }
  if (node.op == Op::kGather) {
    const auto [buffer, index] = node.AsGather();
    return Expr::Gather(node.dtype, Buffer(buffer), index);
  }
  if (node.op == Op::kWithin) {
    const auto [within, value, otherwise] = node.AsWithin();
    const std::optional<Range> marks = Marks(within);
    if (!marks.has_value()) return std::nullopt;
    return Expr::Within(node.dtype, *marks, value, otherwise);
  }
  return node;
}

std::optional<Range> ExprCopier::Marks(Range marks) {
  if (!rules_.mark) return marks;
  std::vector<int32_t> copies;
  bool same = &from_ == &to_;
  for (int32_t i = 0; i < marks.count; ++i) {
    const Id mark = from_.lists[marks.begin + i];
    copies.push_back(rules_.mark(mark));
    if (copies.back() == kNone) return std::nullopt;
    same = same && copies.back() == mark;
  }
  return same ? marks : to_.AddList(copies);
}

}  // namespace kiln
