#include "lang/program/expr_index.h"

#include "absl/algorithm/container.h"

namespace kiln {
Id ExprIndex::Find(const std::vector<Expr>& exprs, const Expr& expr) const {
  if (slots_.empty()) return kNone;
  for (size_t at = expr.Hash();; ++at) {
    const Id found = slots_[at & (slots_.size() - 1)];
    if (found == kNone || exprs[found] == expr) return found;
  }
}

void ExprIndex::Insert(const std::vector<Expr>& exprs, Id expr) {
  size_t at = exprs[expr].Hash();
  while (slots_[at & (slots_.size() - 1)] != kNone) ++at;
  slots_[at & (slots_.size() - 1)] = expr;
}

void ExprIndex::Update(const std::vector<Expr>& exprs) {
  const Id first = static_cast<Id>(reads_.size());
  Id added = first;
  if (exprs.size() * 2 > slots_.size()) {
    size_t size = 64;
    while (size < exprs.size() * 4) size *= 2;
    slots_.assign(size, kNone);
    added = 0;
  }
  for (; added < static_cast<Id>(exprs.size()); ++added) {
    Insert(exprs, added);
    if (added >= first) reads_.push_back(ReadsOf(exprs[added]));
  }
}

Range ExprIndex::ReadsOf(const Expr& expr) {
  const auto operands = expr.Operands();
  const auto part = [&](Range range) {
    return absl::MakeConstSpan(buffers_).subspan(range.begin, range.count);
  };
  const Range first = !operands.empty() ? reads_[operands[0]] : Range{};
  std::vector<Id> more;
  const auto add = [&](Id buffer) {
    if (!absl::c_linear_search(part(first), buffer) && !absl::c_linear_search(more, buffer))
      more.push_back(buffer);
  };
  for (size_t i = 1; i < operands.size(); ++i) {
    const Range other = reads_[operands[i]];
    if (first.count == 0 && more.empty() && i + 1 == operands.size()) return other;
    if (other.begin == first.begin && other.count == first.count) continue;
    for (const Id buffer : part(other)) add(buffer);
  }
  if (const Id own = BufferRead(expr); own != kNone) add(own);
  if (more.empty()) return first;
  const Range all{static_cast<int32_t>(buffers_.size()), first.count + static_cast<int32_t>(more.size())};
  for (int i = 0; i < first.count; ++i) buffers_.push_back(Id{buffers_[first.begin + i]});
  buffers_.insert(buffers_.end(), more.begin(), more.end());
  return all;
}

}  // namespace kiln
