#include "lang/patterns/match_body.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/program/start.h"

namespace kiln {
namespace {

bool Commutes(Op op) {
  switch (op) {
    case Op::kAdd:
    case Op::kMul:
    case Op::kMax:
    case Op::kMin:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      return true;
    default:
      return false;
  }
}

bool Holds(Storage wanted, Storage found) {
  return wanted == found || (wanted == Storage::kGlobal && found == Storage::kStack);
}

std::string LayoutText(const Program& p, const Layout& layout) {
  if (layout.axes.count == 0) return "row-major";
  const auto name = [](Source s) { return absl::StrCat("d", s.id); };
  return absl::StrCat("(",
                      absl::StrJoin(p.List(layout.axes), ", ",
                                    [&](std::string* s, Id axis) { *s += ToString(p.SumOf(axis), name); }),
                      ")");
}

}  // namespace

BodyMatcher::BodyMatcher(const Program& program, Id block, const Tile& tile, const Program& description,
                         Id described, const std::vector<int>& iter_of)
    : p_(program),
      d_(description),
      block_(block),
      described_(described),
      tile_(tile),
      described_as_(tile.parts.size(), -1),
      iters_(static_cast<int>(tile.parts.size())),
      operands_(description.buffers.size()) {
  for (size_t i = 0; i < iter_of.size(); ++i) {
    if (iter_of[i] >= 0) described_as_[iter_of[i]] = static_cast<int>(i);
  }
  const auto own = p_.Iters(p_.block(block_).iters);
  for (int i = 0; i < iters_; ++i)
    extents_.push_back((own[i].extent.UpperBound() + tile_.parts[i].tile - 1) / tile_.parts[i].tile);
}

bool BodyMatcher::No(int progress, std::string why) {
  if (progress > progress_) {
    why_ = std::move(why);
    progress_ = progress;
  }
  return false;
}

absl::Status BodyMatcher::Match() {
  const BlockNode &b = p_.block(block_), &d = d_.block(described_);
  bool same = MatchMonoid();
  if (same && b.initial.count != 0 && !StartsNeutral(p_, b))
    same = No(kStructure, absl::StrCat(Describe(p_, block_), " starts from a value of its own"));
  if (same && b.dests.count != d.dests.count) same = No(kStructure, "it has several results");
  for (int r = 0; same && r < b.dests.count; ++r) {
    const Access &to = p_.Accesses(b.dests)[r], &wanted = d_.Accesses(d.dests)[r];
    same = MatchExpr(p_.List(b.values)[r], d_.List(d.values)[r]) &&
           MatchAccess(to.buffer, to.index, wanted.buffer, wanted.index);
  }
  if (same) return absl::OkStatus();
  return absl::FailedPreconditionError(why_.empty() ? "its body is another" : why_);
}

bool BodyMatcher::MatchMonoid() {
  const auto text = [](const Program& p, Id monoid) {
    return monoid == kNone ? std::string("a store") : absl::StrCat("a ", ToString(p.monoids[monoid].kind));
  };
  const Id a = p_.block(block_).monoid, b = d_.block(described_).monoid;
  const bool same =
      (a == kNone) == (b == kNone) && (a == kNone || (p_.monoids[a].kind == d_.monoids[b].kind &&
                                                      p_.monoids[a].kind != Monoid::Kind::kCustom));
  return same || No(kStructure, absl::StrCat("found ", text(p_, a), "; wanted ", text(d_, b)));
}

bool BodyMatcher::MatchExpr(Id expr, Id wanted) {
  const Expr &a = p_.exprs[expr], &b = d_.exprs[wanted];
  if (a.op == Op::kWithin && b.op != Op::kWithin)
    return No(kStructure,
              absl::StrCat("there is a guard inside, in what ", Describe(p_, block_), " computes"));
  if (a.op != b.op)
    return No(kStructure, absl::StrCat("found ", ToString(a.op), "; wanted ", ToString(b.op)));
  if (a.op == Op::kLoad)
    return MatchAccess(a.AsLoad().buffer, a.AsLoad().index, b.AsLoad().buffer, b.AsLoad().index);
  if (a.dtype != b.dtype)
    return No(kStructure, absl::StrCat("found ", ToString(a.op), " of ", ToString(a.dtype), "; wanted of ",
                                       ToString(b.dtype)));
  if (a.op == Op::kConstant)
    return a.Number() == b.Number() || No(kStructure, "found another constant than is wanted");
  if (a.op == Op::kIndex || a.op == Op::kWithin)
    return No(kStructure, "what it computes depends on where it is");
  if (Commutes(a.op)) {
    const std::vector<OperandView> before = operands_;
    if (MatchExpr(a.operand(0), b.operand(0)) && MatchExpr(a.operand(1), b.operand(1))) return true;
    operands_ = before;
    return MatchExpr(a.operand(0), b.operand(1)) && MatchExpr(a.operand(1), b.operand(0));
  }
  for (size_t i = 0; i < a.Operands().size(); ++i) {
    if (!MatchExpr(a.Operands()[i], b.Operands()[i])) return false;
  }
  return true;
}

bool BodyMatcher::MatchAccess(Id buffer, Range index, Id wanted, Range wanted_index) {
  const Buffer &a = p_.buffers[buffer], &b = d_.buffers[wanted];
  const std::string operand = absl::StrCat("operand ", d_.Text(b.name), " is ", p_.Text(a.name), ": ");
  const std::optional<OperandView> view = View(buffer, index, wanted, wanted_index);
  if (!view.has_value())
    return No(kStructure,
              absl::StrCat(operand, "its index is not a strided region in the order of the description"));
  if (a.dtype != b.dtype)
    return No(kType, absl::StrCat(operand, "found ", ToString(a.dtype), "; wanted ", ToString(b.dtype)));
  if (!Holds(b.scope.storage, a.scope.storage)) {
    return No(kStorage, absl::StrCat(operand, "found in ", ToString(a.scope.storage), "; wanted in ",
                                     ToString(b.scope.storage)));
  }
  OperandView& known = operands_[wanted];
  if (known.buffer != kNone && (known.buffer != view->buffer || known.index != view->index))
    return No(kStructure,
              absl::StrCat(operand, "it is ", p_.Text(p_.buffers[known.buffer].name), " elsewhere"));
  known = *view;
  return MatchLayout(*view, wanted);
}

std::optional<OperandView> BodyMatcher::View(Id buffer, Range index, Id wanted, Range wanted_index) {
  // Finds, for each iter of the description, the dimension of the operand that it indexes, or -1.
  std::vector<int> dimension(d_.block(described_).iters.count, -1);
  const auto shape = d_.Dims(d_.buffers[wanted].shape);
  for (int e = 0; e < wanted_index.count; ++e) {
    const IndexSum sum = d_.SumOf(d_.List(wanted_index)[e]);
    if (shape[e].UpperBound() > 1) dimension[sum.splits[0].source.id] = e;
  }
  const auto extents = [&](Source s) {
    return s.id < iters_ ? extents_[s.id] : shape[s.id - iters_].UpperBound();
  };
  bool other = false;
  const auto definition = [&](Source s) -> std::optional<IndexSum> {
    IndexSum sum =
        extents_[s.id] == 1 ? IndexSum() : IndexSum::Of(Source::Iter(s.id), tile_.parts[s.id].tile);
    if (tile_.parts[s.id].tile == 1) return sum;
    const int d = dimension[described_as_[s.id]];
    other |= d < 0;
    return d < 0 ? sum : sum + IndexSum::Of(Source::Iter(iters_ + d));
  };
  OperandView view{buffer, {}};
  std::vector<bool> seen(shape.size(), false);
  for (const Id mark : p_.List(index)) {
    const std::optional<IndexSum> sum = Substitute(p_.SumOf(mark), definition, extents);
    if (!sum.has_value() || other) return std::nullopt;
    for (const IndexSplit& split : sum->splits) {
      if (split.source.id < iters_) continue;
      if (split.lower != 1 || split.extent != 0) return std::nullopt;
      seen[split.source.id - iters_] = true;
    }
    view.index.push_back(*sum);
  }
  for (size_t e = 0; e < shape.size(); ++e) {
    if (!seen[e] && shape[e].UpperBound() > 1) return std::nullopt;
  }
  return view;
}

bool BodyMatcher::MatchLayout(const OperandView& view, Id wanted) {
  const Layout &a = p_.buffers[view.buffer].layout, &b = d_.buffers[wanted].layout;
  const auto kinds = p_.List(a.kinds), wanted_kinds = d_.List(b.kinds);
  const auto no = [&] {
    return No(kLayout, absl::StrCat("operand ", d_.Text(d_.buffers[wanted].name), " is ",
                                    p_.Text(p_.buffers[view.buffer].name), ": found layout ",
                                    LayoutText(p_, a), "; wanted ", LayoutText(d_, b)));
  };
  if (b.axes.count == 0) {
    const bool memory = std::all_of(kinds.begin(), kinds.end(), [](int32_t kind) {
      return kind == static_cast<int32_t>(AxisKind::kAddress);
    });
    return memory || no();
  }
  const auto shape = d_.Dims(d_.buffers[wanted].shape);
  const auto extents = [&](Source s) {
    return s.id < iters_ ? extents_[s.id] : shape[s.id - iters_].UpperBound();
  };
  std::vector<std::pair<IndexSum, int32_t>> found, described;
  for (int i = 0; i < a.axes.count; ++i) {
    const std::optional<IndexSum> axis = Substitute(
        p_.SumOf(p_.List(a.axes)[i]), [&](Source s) { return std::optional<IndexSum>(view.index[s.id]); },
        extents);
    if (!axis.has_value()) return no();
    IndexSum inner;
    for (const IndexSplit& split : axis->splits) {
      if (split.source.id >= iters_) inner.splits.push_back(split);
    }
    if (!inner.splits.empty()) found.emplace_back(inner, kinds.empty() ? 0 : kinds[i]);
  }
  for (int i = 0; i < b.axes.count; ++i) {
    IndexSum axis = d_.SumOf(d_.List(b.axes)[i]);
    for (IndexSplit& split : axis.splits) split.source = Source::Iter(iters_ + split.source.id);
    described.emplace_back(Simplify(axis, extents), wanted_kinds.empty() ? 0 : wanted_kinds[i]);
  }
  const auto bits = [](Swizzle s) { return std::tuple(s.from, s.to, s.bits); };
  return (found == described && bits(a.swizzle) == bits(b.swizzle)) || no();
}

}  // namespace kiln
