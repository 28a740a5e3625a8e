#include "lang/program/expr_index.h"

#include "absl/algorithm/container.h"

namespace kiln {
namespace {

bool Same(const Expr& x, const Expr& y) {
  return x.op == y.op && x.dtype == y.dtype && x.a == y.a && x.b == y.b && x.c == y.c && x.bits == y.bits;
}

// A program hashes alike in every run, so that nothing here depends on addresses or seeds.
size_t HashOf(const Expr& e) {
  uint64_t hash = static_cast<uint64_t>(e.op) << 8 | static_cast<uint64_t>(e.dtype);
  for (const uint64_t part :
       {static_cast<uint64_t>(static_cast<uint32_t>(e.a)) << 32 | static_cast<uint32_t>(e.b),
        static_cast<uint64_t>(e.c), static_cast<uint64_t>(e.bits)}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

Id ExprIndex::Find(const std::vector<Expr>& exprs, const Expr& expr) const {
  if (slots_.empty()) return kNone;
  for (size_t at = HashOf(expr);; ++at) {
    const Id found = slots_[at & (slots_.size() - 1)];
    if (found == kNone || Same(exprs[found], expr)) return found;
  }
}

void ExprIndex::Insert(const std::vector<Expr>& exprs, Id expr) {
  size_t at = HashOf(exprs[expr]);
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
  const Id operands[] = {expr.a, expr.b, expr.c};
  const auto part = [&](Range range) {
    return absl::MakeConstSpan(buffers_).subspan(range.begin, range.count);
  };
  const Range first = Arity(expr.op) > 0 ? reads_[expr.a] : Range{};
  std::vector<Id> more;
  const auto add = [&](Id buffer) {
    if (!absl::c_linear_search(part(first), buffer) && !absl::c_linear_search(more, buffer))
      more.push_back(buffer);
  };
  for (int i = 1; i < Arity(expr.op); ++i) {
    const Range other = reads_[operands[i]];
    if (first.count == 0 && more.empty() && i + 1 == Arity(expr.op)) return other;
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
