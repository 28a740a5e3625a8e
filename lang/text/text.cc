#include "lang/text/text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/base/casts.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fmt/format.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/program/text_names.h"

namespace kiln {
namespace {

class Printer {
 public:
  explicit Printer(const Program& program) : p_(program) {}

  std::string Print() {
    out_ = absl::StrCat("kiln.program v1\nprogram ", QuotedName(p_.name), "\n");
    UniqueNames names;
    for (const Buffer& b : p_.buffers) buffers_.push_back(names.Add(p_.Text(b.name)));
    if (!p_.parameters.empty()) {
      absl::StrAppend(&out_, "parameters ",
                      absl::StrJoin(p_.parameters, ", ", [&](std::string* s, Id b) { *s += buffers_[b]; }),
                      "\n");
    }
    for (size_t b = 0; b < p_.buffers.size(); ++b) PrintBuffer(static_cast<Id>(b));
    PrintMonoids();
    out_ += '\n';
    UniqueNames scope;
    PrintChildren(kRoot, kNone, scope);
    return std::move(out_);
  }

 private:
  void Line(const std::string& text) { absl::StrAppend(&out_, std::string(2 * depth_, ' '), text, "\n"); }

  std::string ExtentText(const Extent& e) const {
    if (e.constant()) return absl::StrCat(e.Known());
    return absl::StrCat(buffers_[e.parameter()], "{", e.LowerBound(), "..", e.UpperBound(), "/", e.divisor(),
                        "}");
  }

  template <typename NameOf>
  std::string MarksText(absl::Span<const int32_t> marks, NameOf name_of) const {
    const auto one = [&](std::string* s, Id mark) {
      absl::StrAppend(s, ToString(p_.SumOf(mark), name_of), " < ", ExtentText(p_.marks[mark].extent));
    };
    return absl::StrCat("(", absl::StrJoin(marks, ", ", one), ")");
  }

  void PrintBuffer(Id id) {
    const Buffer& b = p_.buffers[id];
    std::string text = absl::StrCat(
        "buffer ", buffers_[id], ": ", ToString(b.dtype), "[",
        absl::StrJoin(p_.Dims(b.shape), ", ", [&](std::string* s, const Extent& e) { *s += ExtentText(e); }),
        "] ", kRoleNames[static_cast<int>(b.role)]);
    if (!(b.scope == Scope{})) {
      absl::StrAppend(&text, " ", ToString(b.scope.storage), "/",
                      kOwnerNames[static_cast<int>(b.scope.owner)]);
    }
    const Layout& layout = b.layout;
    if (layout.axes.count != 0) {
      absl::StrAppend(&text, " layout ",
                      MarksText(p_.List(layout.axes), [](Source s) { return absl::StrCat("d", s.id); }));
      if (layout.kinds.count != 0) {
        const auto kind = [](std::string* s, int32_t k) { absl::StrAppend(s, kAxisNames[k]); };
        absl::StrAppend(&text, " kinds (", absl::StrJoin(p_.List(layout.kinds), ", ", kind), ")");
      }
      const Swizzle& z = layout.swizzle;
      if (z.bits != 0)
        absl::StrAppend(&text, " swizzle (", int{z.from}, ", ", int{z.to}, ", ", int{z.bits}, ")");
      if (layout.padding != kNone) absl::StrAppend(&text, " padding ", ExprText(layout.padding));
    }
    if (b.data != kNone)
      absl::StrAppend(&text, " data \"", absl::BytesToHexString((*p_.constants)[b.data]), "\"");
    Line(text);
  }

  void PrintMonoids() {
    int custom = 0;
    for (size_t m = 0; m < p_.monoids.size(); ++m) {
      const Monoid& monoid = p_.monoids[m];
      monoid_names_.push_back(std::string(ToString(monoid.kind)));
      if (monoid.kind != Monoid::Kind::kCustom) continue;
      monoid_names_.back() = absl::StrCat("m", custom++);
      results_ = monoid.identity.count;
      Line(absl::StrCat("monoid ", monoid_names_.back(), monoid.idempotent ? " idempotent" : "",
                        monoid.exact ? " exact" : "", " identity ", ExprsText(monoid.identity), " combine ",
                        ExprsText(monoid.combine)));
    }
  }

  std::string Notes(Range annotations) const {
    std::string text;
    const auto pairs = p_.List(annotations);
    for (size_t i = 0; i < pairs.size(); i += 2) {
      absl::StrAppend(&text, " @", QuotedName(p_.Text(pairs[i])), "=", pairs[i + 1]);
    }
    return text;
  }

  std::string PipelineText(const LoopNode& loop) const {
    const auto stage = [](std::string* s, const PipelineStage& child) {
      absl::StrAppend(s, child.stage, " ", child.order,
                      child.role == PipelineRole::kProducer ? " producer" : "");
    };
    const auto ring = [&](std::string* s, const Ring& r) {
      absl::StrAppend(s, buffers_[r.buffer], " ", r.depth, " ", ToString(r.transport));
    };
    const auto stages = p_.Stages(loop);
    const auto rings = p_.Rings(loop);
    return absl::StrCat(" (", absl::StrJoin(stages, ", ", stage), rings.empty() ? ")" : "; ",
                        absl::StrJoin(rings, ", ", ring), rings.empty() ? "" : ")");
  }

  void PrintChildren(Id parent, Id scope_block, UniqueNames& scope) {
    for (Id n = p_.nodes[parent].first; n != kNone; n = p_.nodes[n].next) {
      const std::string prepare = p_.nodes[n].prepare ? "prepare " : "";
      if (p_.IsBlock(n)) {
        PrintBlock(n, prepare, scope_block, scope);
        continue;
      }
      const LoopNode& loop = p_.loop(n);
      const size_t mark = scope.size();
      depth_of_[n] = static_cast<int>(mark);
      sources_[n] = scope.Add(p_.Text(loop.name));
      std::string text = absl::StrCat(prepare, "for ", sources_[n], " < ", ExtentText(loop.extent));
      if (loop.kind != LoopKind::kSerial) absl::StrAppend(&text, " ", ToString(loop.kind));
      if (loop.kind == LoopKind::kPipelined) absl::StrAppend(&text, PipelineText(loop));
      Line(absl::StrCat(text, loop.tainted ? " tainted" : "", Notes(loop.annotations), " {"));
      ++depth_;
      PrintChildren(n, scope_block, scope);
      --depth_;
      Line("}");
      scope.Shrink(mark);
    }
  }

  void PrintBlock(Id node, const std::string& prepare, Id scope_block, UniqueNames& scope) {
    const BlockNode& b = p_.block(node);
    const std::string intrinsic =
        b.intrinsic == kNone ? "" : absl::StrCat(" intrinsic ", QuotedName(p_.Text(b.intrinsic)));
    Line(absl::StrCat(prepare, "block ", QuotedName(p_.Text(b.name)), intrinsic, Notes(b.annotations), " {"));
    ++depth_;
    const size_t mark = scope.size();
    PrintIters(node, scope_block, scope);
    const std::vector<std::string> own = iter_names_[node];
    const auto iter_name = [&](Source s) { return own[s.id]; };
    if (b.domain.count != 0) Line(absl::StrCat("domain ", MarksText(p_.List(b.domain), iter_name)));
    body_iters_ = own;
    if (b.dests.count != 0) PrintBody(node);
    const Provenance& from = b.provenance;
    std::string origin = absl::StrCat(
        "from ", ToString(from.kind), " ",
        from.kind == Provenance::Kind::kCopy ? buffers_[from.origin] : absl::StrCat(from.origin));
    if (from.map.count != 0) absl::StrAppend(&origin, " ", MarksText(p_.List(from.map), iter_name));
    if (from.origin != kNone) Line(origin);
    scope.Shrink(mark);
    UniqueNames inner;
    for (const std::string& name : own) inner.Add(name);
    PrintChildren(node, node, inner);
    --depth_;
    Line("}");
  }

  bool IsOneLoop(const IndexSum& sum) const {
    return sum.splits.size() == 1 && sum == IndexSum::Of(Source::Loop(sum.splits[0].source.id)) &&
           sources_.contains(sum.splits[0].source.id);
  }

  // Sorts the terms of a sum for printing, in an order that depends on no id: by falling |scale|, then by the kind of
  // source, then by the source's position. A loop's position is on the path from the root, a mark's among the printed
  // `let` lines.
  void Order(IndexSum& sum, const std::map<Id, std::string>& lets,
             const std::vector<std::string>& printed) const {
    const auto place = [&](Source source) -> int64_t {
      if (source.kind == Source::Kind::kIter) return source.id;
      if (source.kind == Source::Kind::kLoop)
        return depth_of_.contains(source.id) ? depth_of_.at(source.id) : 0;
      return absl::c_find(printed, lets.at(source.id)) - printed.begin();
    };
    const auto rank = [&](const IndexSplit& s) {
      return std::make_tuple(-std::abs(s.scale), static_cast<int>(s.source.kind), place(s.source), s.lower,
                             s.extent);
    };
    std::sort(sum.splits.begin(), sum.splits.end(),
              [&](const IndexSplit& a, const IndexSplit& b) { return rank(a) < rank(b); });
  }

  // Prints a line for each iter of a block, with its binding as a sum over loops and iters of the enclosing block.
  // Before them prints a `let` line for each mark in these sums that may exceed its extent or is divided, and for each
  // guard but that of the iter's own extent. A guard that the sum does not contain is named after `where`.
  void PrintIters(Id node, Id scope_block, UniqueNames& scope) {
    std::map<Id, std::string> lets;
    const auto name_of = [&](Source s) {
      return s.kind == Source::Kind::kLoop   ? sources_[s.id]
             : s.kind == Source::Kind::kIter ? iter_names_[scope_block][s.id]
                                             : lets.at(s.id);
    };
    std::map<std::string, std::string> let_names;  // by text, so that equal guards are printed once
    std::vector<std::string> printed_lets;         // in the order of printing
    const auto text_of = [&](IndexSum sum) {
      Order(sum, lets, printed_lets);
      return ToString(sum, name_of);
    };
    const auto let = [&](const IndexSum& value, const std::string& extent) {
      const std::string text = absl::StrCat(text_of(value), " < ", extent);
      const auto [it, fresh] = let_names.emplace(text, "");
      if (fresh) {
        it->second = scope.Add(absl::StrCat("m", let_names.size() - 1));
        printed_lets.push_back(it->second);
        Line(absl::StrCat("let ", it->second, " = ", text));
      }
      return it->second;
    };
    std::vector<std::string> lines;
    UniqueNames own;
    for (const Iter& iter : p_.Iters(p_.block(node).iters)) {
      Resolver resolver(p_, scope_block);
      IndexSum value = resolver.ResolveChecked(iter.binding);
      const IndexSum plain = p_.SumOf(iter.binding);
      if (value.IsConstant() && IsOneLoop(plain)) value = plain;  // a loop with one iteration
      NameMarks(value, resolver, lets, let);
      std::vector<std::string> where;
      std::vector<std::pair<std::string, Guard>> guards;  // sorted by text, not in order of discovery
      for (size_t i = 0; i < resolver.guards().size(); ++i) {
        const Guard guard = resolver.guards()[i];
        if (guard.value == value && guard.extent == iter.extent.UpperBound()) continue;
        NameMarks(guard.value, resolver, lets, let);
        guards.emplace_back(absl::StrCat(text_of(guard.value), " < ", guard.extent), guard);
      }
      std::sort(guards.begin(), guards.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& [text, guard] : guards) {
        const std::string name = let(guard.value, absl::StrCat(guard.extent));
        bool reached = false;
        for (const IndexSplit& s : value.splits)
          reached |= s.source.kind == Source::Kind::kMark && lets.at(s.source.id) == name;
        if (!reached) where.push_back(name);
      }
      const std::string name = own.Add(p_.Text(iter.name));
      iter_names_[node].push_back(name);
      lines.push_back(absl::StrCat(iter.kind == IterKind::kSpatial ? "spatial " : "reduction ", name, " < ",
                                   ExtentText(iter.extent), " = ", text_of(value),
                                   where.empty() ? "" : absl::StrCat(" where ", absl::StrJoin(where, ", "))));
    }
    for (const std::string& line : lines) Line(line);
  }

  template <typename Let>
  void NameMarks(const IndexSum& value, Resolver& resolver, std::map<Id, std::string>& lets, const Let& let) {
    for (const IndexSplit& s : value.splits) {
      if (s.source.kind != Source::Kind::kMark || lets.count(s.source.id) != 0) continue;
      const IndexSum inner = resolver.Resolve(s.source.id);
      NameMarks(inner, resolver, lets, let);
      lets[s.source.id] = let(inner, ExtentText(p_.marks[s.source.id].extent));
    }
  }

  std::string AccessText(Id buffer, absl::Span<const int32_t> index) const {
    const auto name_of = [&](Source s) { return body_iters_[s.id]; };
    const auto one = [&](std::string* s, Id mark) { *s += ToString(p_.SumOf(mark), name_of); };
    return absl::StrCat(buffers_[buffer], "[", absl::StrJoin(index, ", ", one), "]");
  }

  // Names the operations (not leaves) that are used more than once, so that the text's length is linear in the number
  // of expressions. Also names some deeply nested operations, so that parsing needs no deep stack.
  void PrintValues(Id node) {
    constexpr int kDeepest = 64;
    value_names_.clear();
    absl::flat_hash_map<Id, int> uses, depths;
    const std::vector<Id> body = BodyExprs(p_, node);
    for (const Id id : body) {
      for (const Id operand : Operands(id)) ++uses[operand];
    }
    for (const Range list : {p_.block(node).values, p_.block(node).initial}) {
      for (const Id value : p_.List(list)) ++uses[value];
    }
    for (const Id id : body) {
      if (Arity(p_.exprs[id].op) == 0 || p_.exprs[id].op == Op::kTuple) continue;
      int depth = 1;
      for (const Id operand : Operands(id)) depth = std::max(depth, depths[operand] + 1);
      if (uses[id] > 1 || depth == kDeepest) {
        const std::string name = absl::StrCat("v", value_names_.size());
        Line(absl::StrCat("value ", name, " = ", ExprText(id)));
        value_names_[id] = name;
        depth = 0;
      }
      depths[id] = depth;
    }
  }

  std::vector<Id> Operands(Id id) const {
    const Expr& e = p_.exprs[id];
    if (e.op == Op::kGather) return p_.GatherIndex(e);
    if (e.op == Op::kTuple) return {};  // printed as part of its gather
    return {e.Operands().begin(), e.Operands().end()};
  }

  void PrintBody(Id node) {
    const BlockNode& b = p_.block(node);
    PrintValues(node);
    const auto dest = [&](std::string* s, const Access& a) { *s += AccessText(a.buffer, p_.List(a.index)); };
    std::string text = absl::StrJoin(p_.Accesses(b.dests), ", ", dest);
    if (b.monoid != kNone)
      absl::StrAppend(&text, " ", b.accumulates ? "accumulate " : "", monoid_names_[b.monoid]);
    absl::StrAppend(&text, b.monoid == kNone ? " = " : "= ", ExprsText(b.values));
    if (b.initial.count != 0) absl::StrAppend(&text, " initial ", ExprsText(b.initial));
    Line(text);
  }

  std::string ExprsText(Range list) const {
    const auto exprs = p_.List(list);
    if (exprs.size() == 1) return ExprText(exprs[0]);
    return absl::StrCat("(", absl::StrJoin(exprs, ", ", [&](std::string* s, Id e) { *s += ExprText(e); }),
                        ")");
  }

  static absl::string_view CastSuffix(const Expr& e) {
    if (e.op == Op::kBitcast) return ".bits";
    if (e.op == Op::kCastUnsigned) return ".unsigned";
    return e.dtype == DType::kIndex ? ".cast" : "";
  }

  std::string ConstantText(const Expr& e) const {
    if (!IsFloat(e.dtype)) return absl::StrCat(e.Number());
    const double value = absl::bit_cast<double>(e.Number());
    if (!std::isnan(value)) return fmt::format("{}", value);
    return e.IsConstant(0x7ff8000000000000) ? "nan" : absl::StrCat("bits ", e.Number());
  }

  // Returns the text of an expression for a place that takes expressions of this level: 0 sums, 1 products, 2 operands
  // of products. An expression of a lower level is put in parentheses.
  std::string ExprText(Id id, int level = 0) const {
    const auto named = value_names_.find(id);
    if (named != value_names_.end()) return named->second;
    const Expr& e = p_.exprs[id];
    const auto infix = [&](const char* op, int own) {
      const std::string text = absl::StrCat(ExprText(e.operand(0), own), op, ExprText(e.operand(1), own + 1));
      return own < level ? absl::StrCat("(", text, ")") : text;
    };
    const auto iter_name = [&](Source s) { return body_iters_[s.id]; };
    switch (e.op) {
      case Op::kAdd:
        return infix(" + ", 0);
      case Op::kSub:
        return infix(" - ", 0);
      case Op::kMul:
        return infix("*", 1);
      case Op::kDiv:
        return infix("/", 1);
      case Op::kConstant:
        return absl::StrCat(ToString(e.dtype), e.dtype == DType::kIndex ? ".const(" : "(", ConstantText(e),
                            ")");
      case Op::kIndex:
        return absl::StrCat("index(", ToString(p_.SumOf(e.AsIndex()), iter_name), ")");
      case Op::kLoad:
        return AccessText(e.AsLoad().buffer, p_.List(e.AsLoad().index));
      case Op::kGather: {
        const auto one = [&](std::string* s, Id index) { absl::StrAppend(s, "{", ExprText(index), "}"); };
        return absl::StrCat(buffers_[e.AsGather().buffer], "[", absl::StrJoin(p_.GatherIndex(e), ", ", one),
                            "]");
      }
      case Op::kArg:
        return e.Number() < results_ ? absl::StrCat("l", e.Number())
                                     : absl::StrCat("r", e.Number() - results_);
      case Op::kWithin:
        return absl::StrCat("within(", MarksText(p_.List(e.AsWithin().marks), iter_name), ", ",
                            ExprText(e.AsWithin().value), ", ", ExprText(e.AsWithin().otherwise), ")");
      case Op::kCast:
      case Op::kCastUnsigned:
      case Op::kBitcast:
        return absl::StrCat(ToString(e.dtype), CastSuffix(e), "(", ExprText(e.operand(0)), ")");
      default:
        break;
    }
    const auto operand = [&](std::string* text, Id of) { absl::StrAppend(text, ExprText(of)); };
    return absl::StrCat(ToString(e.op), "(", absl::StrJoin(e.Operands(), ", ", operand), ")");
  }

  const Program& p_;
  std::string out_;
  int depth_ = 0;
  int64_t results_ = 1;
  std::vector<std::string> buffers_, monoid_names_, body_iters_;
  absl::flat_hash_map<Id, std::string> value_names_;              // names in the block that is being printed
  absl::flat_hash_map<Id, std::string> sources_;                  // loops
  absl::flat_hash_map<Id, int> depth_of_;                         // loops
  absl::flat_hash_map<Id, std::vector<std::string>> iter_names_;  // by block
};

}  // namespace

std::string ToString(const Program& program) { return Printer(program).Print(); }

}  // namespace kiln
