#include "validator/proof/compare.h"

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "validator/proof/algebra.h"

namespace kiln::proof {
namespace {

constexpr int kMaxDepth = 500;  // limits the recursion of comparisons

Finding Unknown(std::string why) { return {Answer::kUnknown, std::move(why), {}}; }

bool SameIters(const Value& a, const Value& b) {
  return a.model == b.model && a.block == b.block && a.expr == b.expr &&
         (a.iters == b.iters || *a.iters == *b.iters);
}

std::optional<IndexSum> IndexAt(Points& points, const Value& value) {
  const Program& p = value.model->program();
  const auto own = p.Iters(p.block(value.block).iters);
  return Replace(
      points, p.SumOf(p.exprs[value.expr].AsIndex()), [&](Source s) { return (*value.iters)[s.id]; },
      [&](Source s) { return own[s.id].extent.Known(); });
}

std::string TextOf(const Look& look) {
  const Program& p = look.value.model->program();
  switch (look.kind) {
    case Look::Kind::kOperation:
      return std::string(ToString(p.exprs[look.value.expr].op));
    case Look::Kind::kElement:
      return absl::StrCat("an element of ", p.Text(p.buffers[look.buffer].name));
    case Look::Kind::kReduction:
      return absl::StrCat("a reduction by block \"", p.Text(p.block(look.value.block).name), "\"");
    default:
      return look.why;
  }
}

}  // namespace

Finding Comparison::Differ(const Points& points, std::string why) {
  Reply reply = decider_.Empty(points);
  if (reply.answer == Answer::kYes) return {};
  return {reply.answer, std::move(why), std::move(reply.point)};
}

Finding Comparison::Cases(Points& points, Looker looker, Then then) {
  if (--steps_ < 0 || depth_ > kMaxDepth) return Unknown("the expressions are too large");
  ++depth_;
  const absl::Cleanup leave = [this] { --depth_; };
  if (decider_.late()) return Unknown("the time is up");
  const Look look = looker(points);
  if (look.kind == Look::Kind::kUnknown) return Unknown(look.why);
  if (look.kind != Look::Kind::kSplit) return then(points, look);
  Points rest = points;
  for (const Condition& c : look.conditions) {
    for (Points& part : Without(rest, c.value, c.extent)) {
      if (decider_.Empty(part).answer == Answer::kYes) continue;
      Finding finding = Cases(part, looker, then);
      if (finding.answer != Answer::kYes) return finding;
    }
    rest = With(rest, c.value, c.extent);
  }
  return Cases(rest, looker, then);
}

Finding Comparison::Same(Points& points, const Value& a, const Value& b) {
  if (SameIters(a, b)) return {};
  return Cases(
      points, [&](Points& part) { return LookAt(decider_, part, a); },
      [&](Points& some, const Look& x) {
        return Cases(
            some, [&](Points& part) { return LookAt(decider_, part, b); },
            [&](Points& part, const Look& y) { return Same(part, x, y); });
      });
}

Finding Comparison::Same(Points& points, const Value& a, const Look& b) {
  return Cases(
      points, [&](Points& part) { return LookAt(decider_, part, a); },
      [&](Points& part, const Look& look) { return Same(part, look, b); });
}

Finding Comparison::Same(Points& points, const Look& one, const Look& other) {
  using Kind = Look::Kind;
  Look a = one, b = other;
  const bool elements = a.kind == Kind::kElement && b.kind == Kind::kElement;
  for (Look* look : {&a, &b}) {
    if (look->kind == Kind::kElement && look->buffer < shared_)
      look->value.model = &original_;  // by the proof's claim, the element has the original's value
  }
  if (elements && a.buffer == b.buffer && a.value.model == b.value.model) {
    bool same = true;
    for (size_t d = 0; d < a.index.size() && same; ++d) same = decider_.Equal(points, a.index[d], b.index[d]);
    if (same) return {};
  }
  const auto written = [](const Look& look) {
    return look.kind == Kind::kElement && look.value.model->IsWritten(look.buffer);
  };
  // Expands elements of buffers that only the scheduled program has (such as copies) before elements of
  // shared buffers, whose blocks may have been inlined.
  const bool first = written(a) && (a.buffer >= shared_ || !written(b));
  if (first || written(b)) {
    return Cases(
        points, [&](Points& part) { return Follow(decider_, part, first ? a : b); },
        [&](Points& part, const Look& next) { return first ? Same(part, next, b) : Same(part, a, next); });
  }
  if (a.kind != b.kind || a.kind == Kind::kElement)
    return Differ(points, absl::StrCat(TextOf(a), " where the original has ", TextOf(b)));
  return a.kind == Kind::kReduction ? SameReduction(points, a, b) : SameOperation(points, a.value, b.value);
}

Finding Comparison::SameBuffers(const Value& a, const Value& b) {
  const auto whole = [](const Value& gather, Points* points) {
    const Program& p = gather.model->program();
    Look look;
    look.kind = Look::Kind::kElement;
    look.value = gather;
    look.buffer = p.exprs[gather.expr].AsGather().buffer;
    for (const Extent& e : p.Dims(p.buffers[look.buffer].shape)) {
      if (points != nullptr) points->Add(e.Known());
      look.index.push_back(IndexSum::Of(Source::Iter(static_cast<int32_t>(look.index.size()))));
    }
    return look;
  };
  Points elements;
  const Look one = whole(a, &elements), other = whole(b, nullptr);
  if (one.index.size() != other.index.size()) return Unknown("gathers of buffers of other ranks");
  for (size_t d = 0; d < one.index.size(); ++d) {
    const auto extent = [&](const Look& look) {
      const Program& p = look.value.model->program();
      return p.Dims(p.buffers[look.buffer].shape)[d].Known();
    };
    if (extent(one) != extent(other)) return Unknown("gathers of buffers of other shapes");
  }
  return Same(elements, one, other);
}

Finding Comparison::SameOperation(Points& points, const Value& a, const Value& b) {
  const Program &p = a.model->program(), &q = b.model->program();
  const Expr &one = p.exprs[a.expr], &other = q.exprs[b.expr];
  bool same = one.op == other.op && one.dtype == other.dtype;
  if (same && (one.op == Op::kConstant || one.op == Op::kArg)) same = one.Number() == other.Number();
  if (same && one.op == Op::kGather) {
    const Finding finding = SameBuffers(a, b);
    if (finding.answer != Answer::kYes) return finding;
  }
  if (same && Arity(one.op) > 0) same = p.exprs[one.operand(0)].dtype == q.exprs[other.operand(0)].dtype;
  if (same && one.op == Op::kIndex) {
    const std::optional<IndexSum> x = IndexAt(points, a), y = IndexAt(points, b);
    if (!x.has_value() || !y.has_value()) return Unknown("an index divides a number that may be negative");
    same = decider_.Equal(points, *x, *y);
  }
  if (!same) {
    return Differ(points, absl::StrCat(ToString(one.op), " where the original has ", ToString(other.op)));
  }
  const auto operands = one.Operands(), others = other.Operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    const Finding finding = Same(points, Value{a.model, a.block, operands[i], a.iters},
                                 Value{b.model, b.block, others[i], b.iters});
    if (finding.answer != Answer::kYes) return finding;
  }
  return {};
}

}  // namespace kiln::proof
