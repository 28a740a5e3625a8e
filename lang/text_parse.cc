#include <cstring>
#include <limits>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lang/text.h"
#include "lang/text_names.h"
#include "lang/text_tokens.h"

namespace kiln {
namespace {

// Recursive descent. After the first error every method returns at once, with some value.
class Parser : private TokenReader {
 public:
  explicit Parser(absl::string_view text) : TokenReader(text) {}

  absl::StatusOr<Program> Parse() {
    Keyword("kiln.program");
    Keyword("v1");
    Keyword("program");
    p_.name = Name("a name");
    std::vector<std::pair<std::string, Token>> parameters;
    if (Accept("parameters")) {
      do {
        const Token token = Next();
        parameters.emplace_back(Name("a buffer"), token);
      } while (Accept(","));
    }
    while (ok() && Accept("buffer")) ParseBuffer();
    p_.parameters.clear();
    for (const auto& [name, token] : parameters) p_.parameters.push_back(BufferCalled(name, token));
    while (ok() && Accept("monoid")) ParseMonoid();
    while (ok() && Next().kind != Token::Kind::kEnd) ParseNode(kRoot, kNone, {}, 0);
    if (!constants_.empty())
      p_.constants = std::make_shared<const std::vector<std::string>>(std::move(constants_));
    if (!ok()) return status();
    const absl::Status valid = Verify(p_);
    if (!valid.ok()) return absl::InvalidArgumentError(valid.message());
    return std::move(p_);
  }

 private:
  struct Named {
    std::string name;
    Source source;
  };
  using Scope = std::vector<Named>;

  // --- indices
  Id BufferCalled(const std::string& name, const Token& token) {
    const auto it = buffers_.find(name);
    if (it != buffers_.end()) return it->second;
    FailAt(token, absl::StrCat("no buffer is called \"", name, "\""));
    return kNone;
  }
  Extent ParseExtent() {
    if (Next().kind == Token::Kind::kNumber) return Extent(Integer("an extent"));
    const Token token = Next();
    Extent extent;
    extent.param = BufferCalled(Name("an extent"), token);
    Keyword("{");
    extent.min = Integer("a minimum");
    Keyword("..");
    extent.max = Integer("a maximum");
    Keyword("/");
    extent.divisor = Integer("a divisor");
    Keyword("}");
    return extent;
  }
  Sum ParseSum(const Scope& scope) {
    Sum sum;
    bool negative = Accept("-");
    do {
      const Token token = Next();
      if (token.kind == Token::Kind::kNumber) {
        const int64_t value = Integer("a number");
        sum.offset += negative ? -value : value;
      } else {
        const std::string name = Name("an index");
        Split split;
        bool known = false;
        for (const Named& n : scope) {
          if (n.name != name) continue;
          split.source = n.source;
          known = true;
        }
        if (!known) FailAt(token, absl::StrCat("\"", name, "\" is no index here"));
        if (Accept("/")) split.lower = Integer("a divisor");
        if (Accept("%")) split.extent = Integer("a remainder's extent");
        if (Accept("*")) split.scale = Integer("a factor");
        if (split.lower < 1 || split.extent < 0) FailAt(token, "a divisor is not positive");
        if (negative) split.scale = -split.scale;
        sum.splits.push_back(split);
      }
      negative = Is("-");
    } while (ok() && (Accept("+") || Accept("-")));
    return sum;
  }
  Range ParseMarks(const Scope& scope) {
    std::vector<int32_t> marks;
    Keyword("(");
    while (ok() && !Accept(")")) {
      if (!marks.empty()) Keyword(",");
      const Sum sum = ParseSum(scope);
      Keyword("<");
      marks.push_back(p_.AddMark(sum, ParseExtent()));
    }
    return p_.AddList(marks);
  }
  Access ParseAccess() {
    const Token token = Next();
    Access access;
    access.buffer = BufferCalled(Name("a buffer"), token);
    if (!ok()) return access;
    const Range shape = p_.buffers[access.buffer].shape;
    std::vector<int32_t> index;
    Keyword("[");
    while (ok() && !Accept("]")) {
      if (!index.empty()) Keyword(",");
      const Sum sum = ParseSum(body_);
      const Extent extent =
          static_cast<int>(index.size()) < shape.count ? p_.dims[shape.begin + index.size()] : Extent();
      index.push_back(p_.AddMark(sum, extent));
    }
    if (ok() && static_cast<int>(index.size()) != shape.count) {
      FailAt(token, absl::StrCat("found ", index.size(), " indices, wanted ", shape.count));
    }
    access.index = p_.AddList(index);
    return access;
  }

  // --- expressions
  Id ParseConstant(DType type) {
    Expr e;
    e.dtype = type;
    const bool negative = Is("-");
    if (Accept("bits")) {
      e.bits = Integer("bits");
    } else if (!IsFloat(type)) {
      e.bits = Integer("an integer");
    } else {
      Accept("-");
      double value = 0;
      if (Is("inf") || Is("nan")) {
        value =
            Is("inf") ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
      } else if (Next().kind != Token::Kind::kNumber || !absl::SimpleAtod(Next().text, &value)) {
        Wanted("a number");
        return 0;
      }
      ++at_;
      if (negative) value = -value;
      std::memcpy(&e.bits, &value, sizeof value);
    }
    return p_.AddExpr(e);
  }
  Id ParseTyped(DType type, Op cast) {
    Keyword("(");
    const bool literal =
        Next().kind == Token::Kind::kNumber || Is("-") || Is("inf") || Is("nan") || Is("bits");
    const bool constant = literal && cast == Op::kCast;
    const Id result = constant ? ParseConstant(type) : p_.AddExpr({cast, type, ParseExpr(), kNone, kNone, 0});
    Keyword(")");
    return result;
  }
  Id ParsePrimary() {
    if (++depth_ > 400) FailAt(Next(), "the expression is nested too deeply");
    const Id expr = ok() ? ParsePrimaryWithin() : 0;
    --depth_;
    return expr;
  }
  Id ParsePrimaryWithin() {
    if (Accept("(")) {
      const Id inner = ParseExpr();
      Keyword(")");
      return inner;
    }
    if (Next(1).text == "[" && Next(2).text == "{" && Next(2).kind == Token::Kind::kSign)
      return ParseGather();
    if (Next(1).text == "[" && Next(1).kind == Token::Kind::kSign) {
      const Access a = ParseAccess();
      if (!ok()) return 0;
      return p_.AddExpr({Op::kLoad, p_.buffers[a.buffer].dtype, a.buffer, a.index.begin, a.index.count, 0});
    }
    const Token token = Next();
    const std::string name = Name("an expression");
    if (!ok()) return 0;
    int64_t number = 0;
    if (!results_.empty() && (name[0] == 'l' || name[0] == 'r') &&
        absl::SimpleAtoi(name.substr(1), &number)) {
      const auto count = static_cast<int64_t>(results_.size());
      if (number < 0 || number >= count) FailAt(token, absl::StrCat("there are ", count, " results"));
      if (!ok()) return 0;
      return p_.AddExpr(
          {Op::kArg, results_[number], kNone, kNone, kNone, name[0] == 'l' ? number : count + number});
    }
    if (const std::optional<DType> type = ParseDType(name); type.has_value() && type != DType::kIndex) {
      return ParseTyped(*type, Op::kCast);
    }
    const size_t dot = name.find('.');
    if (dot != std::string::npos) {
      const std::optional<DType> type = ParseDType(name.substr(0, dot));
      const std::string how = name.substr(dot + 1);
      if (type.has_value() && how == "unsigned") return ParseTyped(*type, Op::kCastUnsigned);
      if (type.has_value() && how == "bits") return ParseTyped(*type, Op::kBitcast);
      if (type.has_value() && (how == "cast" || how == "const")) return ParseTyped(*type, Op::kCast);
    }
    return ParseCall(name, token);
  }
  Id ParseGather() {
    const Token token = Next();
    const Id buffer = BufferCalled(Name("a buffer"), token);
    Id all = kNone;
    int count = 0;
    for (Keyword("["); ok() && !Accept("]"); ++count) {
      Keyword(count == 0 ? "{" : ",");
      if (count > 0) Keyword("{");
      const Id index = ParseExpr();
      Keyword("}");
      if (ok()) all = count == 0 ? index : p_.AddExpr({Op::kTuple, DType::kIndex, all, index, kNone, 0});
    }
    const int rank = ok() ? p_.buffers[buffer].shape.count : 0;
    if (ok() && count != rank) FailAt(token, absl::StrCat("found ", count, " indices, wanted ", rank));
    return ok() ? p_.AddExpr({Op::kGather, p_.buffers[buffer].dtype, all, kNone, kNone, buffer}) : 0;
  }
  Id ParseCall(const std::string& name, const Token& token) {
    int op = 0;
    while (op < kNumOps && ToString(static_cast<Op>(op)) != name) ++op;
    Expr e;
    e.op = static_cast<Op>(op);
    if (op == kNumOps || (Arity(e.op) == 0 && e.op != Op::kIndex)) {
      FailAt(token, absl::StrCat("there is no operation \"", name, "\""));
      return 0;
    }
    Keyword("(");
    if (e.op == Op::kIndex) {
      e.dtype = DType::kIndex;
      e.a = p_.AddMark(ParseSum(body_), std::numeric_limits<int64_t>::max());
    } else {
      if (e.op == Op::kWithin) {
        const Range marks = ParseMarks(body_);
        e.bits = static_cast<int64_t>(marks.begin) << 32 | marks.count;
        Keyword(",");
      }
      const int arity = Arity(e.op);
      e.a = ParseExpr();
      if (arity > 1) Keyword(","), e.b = ParseExpr();
      if (arity > 2) Keyword(","), e.c = ParseExpr();
      if (!ok()) return 0;
      const bool compares = e.op >= Op::kCmpEq && e.op <= Op::kCmpUno;
      e.dtype = compares ? DType::kI1 : p_.exprs[e.op == Op::kSelect ? e.b : e.a].dtype;
    }
    Keyword(")");
    return p_.AddExpr(e);
  }
  Id Infix(Op op, Id left, Id right) {
    return ok() ? p_.AddExpr({op, p_.exprs[left].dtype, left, right, kNone, 0}) : 0;
  }
  Id ParseProduct() {
    Id left = ParsePrimary();
    while (ok() && (Is("*") || Is("/"))) {
      const Op op = Accept("*") ? Op::kMul : (Accept("/"), Op::kDiv);
      left = Infix(op, left, ParsePrimary());
    }
    return left;
  }
  Id ParseExpr() {
    Id left = ParseProduct();
    while (ok() && (Is("+") || Is("-"))) {
      const Op op = Accept("+") ? Op::kAdd : (Accept("-"), Op::kSub);
      left = Infix(op, left, ParseProduct());
    }
    return left;
  }
  Range ParseExprs(size_t count) {
    std::vector<int32_t> exprs;
    if (count == 1) {
      exprs.push_back(ParseExpr());
    } else {
      Keyword("(");
      for (size_t i = 0; i < count && ok(); ++i) {
        if (i > 0) Keyword(",");
        exprs.push_back(ParseExpr());
      }
      Keyword(")");
    }
    return p_.AddList(exprs);
  }

  // --- declarations
  void ParseBuffer() {
    const Token token = Next();
    const std::string name = Name("a buffer's name");
    Keyword(":");
    const std::optional<DType> type = ParseDType(Next().text);
    if (!type.has_value()) return Wanted("a dtype");
    ++at_;
    std::vector<Extent> shape;
    Keyword("[");
    while (ok() && !Accept("]")) {
      if (!shape.empty()) Keyword(",");
      shape.push_back(ParseExtent());
    }
    const Role role = static_cast<Role>(OneOf(kRoleNames, "a role"));
    const Id id = p_.AddBuffer(name, type.value_or(DType::kF32), shape, role);
    if (!buffers_.emplace(name, id).second)
      return FailAt(token, absl::StrCat("buffer \"", name, "\" is there already"));
    if (const std::optional<Storage> storage = ParseStorage(Next().text); storage.has_value() && Is("/", 1)) {
      at_ += 2;
      p_.buffers[id].scope = {*storage, static_cast<Owner>(OneOf(kOwnerNames, "an owner"))};
    }
    if (Accept("layout")) ParseLayout(id, shape.size());
    if (Accept("data")) {
      if (Next().kind != Token::Kind::kQuoted || Next().text.size() % 2 != 0 ||
          Next().text.find_first_not_of("0123456789abcdef") != std::string::npos) {
        return Wanted("bytes in hexadecimal");
      }
      p_.buffers[id].data = static_cast<Id>(constants_.size());
      constants_.push_back(absl::HexStringToBytes(tokens_[at_++].text));
    }
  }
  void ParseLayout(Id id, size_t rank) {
    Scope scope;
    for (size_t d = 0; d < rank; ++d)
      scope.push_back({absl::StrCat("d", d), Source::Iter(static_cast<int32_t>(d))});
    Layout layout;
    layout.axes = ParseMarks(scope);
    if (Accept("kinds")) {
      std::vector<int32_t> kinds;
      Keyword("(");
      do kinds.push_back(OneOf(kAxisNames, "a kind of axis"));
      while (ok() && Accept(","));
      Keyword(")");
      layout.kinds = p_.AddList(kinds);
    }
    if (Accept("swizzle")) {
      Swizzle& z = layout.swizzle;
      const char* before = "(";
      for (int8_t* bit : {&z.from, &z.to, &z.bits}) {
        Keyword(before);
        *bit = static_cast<int8_t>(Id32("a number of bits"));
        before = ",";
      }
      Keyword(")");
    }
    if (Accept("padding")) layout.padding = ParseExpr();
    p_.buffers[id].layout = layout;
  }
  void ParseMonoid() {
    Monoid monoid;
    monoid.kind = Monoid::Kind::kCustom;
    const std::string name = Name("a monoid's name");
    monoid.idempotent = Accept("idempotent");
    monoid.exact = Accept("exact");
    Keyword("identity");
    std::vector<int32_t> identity;
    const bool several = Accept("(");
    do identity.push_back(ParseExpr());
    while (several && ok() && Accept(","));
    if (several) Keyword(")");
    Keyword("combine");
    if (!ok()) return;
    for (const Id e : identity) results_.push_back(p_.exprs[e].dtype);
    monoid.identity = p_.AddList(identity);
    monoid.combine = ParseExprs(identity.size());
    results_.clear();
    monoids_[name] = static_cast<Id>(p_.monoids.size());
    p_.monoids.push_back(monoid);
  }

  // --- the tree
  Range ParseNotes() {
    std::vector<int32_t> pairs;
    while (ok() && Accept("@")) {
      pairs.push_back(p_.Intern(Name("a note's name")));
      Keyword("=");
      pairs.push_back(Id32("a number"));
    }
    return p_.AddList(pairs);
  }
  void ParseNode(Id parent, Id block, const Scope& scope, int depth) {
    if (depth > 400) return FailAt(Next(), "the tree is too deep");
    const bool prepare = Accept("prepare");
    if (!Is("for") && !Is("block")) return Wanted("\"for\" or \"block\"");
    const Id node = Accept("for") ? ParseLoop(parent, block, scope, depth)
                                  : (Accept("block"), ParseBlock(parent, block, scope, depth));
    if (ok()) p_.nodes[node].prepare = prepare;
  }
  void ParseChildren(Id node, Id block, const Scope& scope, int depth) {
    while (ok() && !Accept("}")) ParseNode(node, block, scope, depth + 1);
  }
  Id ParseLoop(Id parent, Id block, Scope scope, int depth) {
    const std::string name = Name("a loop's name");
    Keyword("<");
    const Extent extent = ParseExtent();
    const Id node = p_.AddLoop(name, extent);
    p_.Append(parent, node);
    if (!Is("tainted") && Next().kind == Token::Kind::kName) {
      std::string kind = Next().text;
      if (Is("-", 1)) absl::StrAppend(&kind, "-", Next(2).text);
      int k = 0;
      constexpr int kKinds = static_cast<int>(LoopKind::kVirtualThread) + 1;
      while (k < kKinds && ToString(static_cast<LoopKind>(k)) != kind) ++k;
      if (k == kKinds) {
        Wanted("a loop's kind");
        return node;
      }
      at_ += kind == Next().text ? 1 : 3;
      p_.loop(node).kind = static_cast<LoopKind>(k);
    }
    p_.loop(node).tainted = Accept("tainted");
    p_.loop(node).annotations = ParseNotes();
    Keyword("{");
    scope.push_back({name, Source::Loop(node)});
    ParseChildren(node, block, scope, depth);
    return node;
  }
  Id ParseBlock(Id parent, Id, Scope scope, int depth) {
    BlockNode b;
    b.name = p_.Intern(Name("a block's name"));
    b.annotations = ParseNotes();
    Keyword("{");
    while (ok() && Accept("let")) {
      const std::string name = Name("a name");
      Keyword("=");
      const Sum sum = ParseSum(scope);
      Keyword("<");
      scope.push_back({name, Source::Mark(p_.AddMark(sum, ParseExtent()))});
    }
    std::vector<Iter> iters;
    body_.clear();
    while (ok() && (Is("spatial") || Is("reduction"))) {
      Iter iter;
      iter.kind = Accept("spatial") ? IterKind::kSpatial : (Accept("reduction"), IterKind::kReduction);
      const std::string name = Name("an iter's name");
      body_.push_back({name, Source::Iter(static_cast<int32_t>(iters.size()))});
      iter.name = p_.Intern(name);
      Keyword("<");
      iter.extent = ParseExtent();
      Keyword("=");
      Sum sum = ParseSum(scope);
      if (Accept("where")) {
        do {
          const Sum guard = ParseSum(scope);
          for (Split s : guard.splits) {
            s.scale = 0;  // named, so that it must lie in its extent; adds nothing
            sum.splits.push_back(s);
          }
        } while (ok() && Accept(","));
      }
      iter.binding = p_.AddMark(sum, iter.extent);
      iters.push_back(iter);
    }
    b.iters = {static_cast<int32_t>(p_.iters.size()), static_cast<int32_t>(iters.size())};
    p_.iters.insert(p_.iters.end(), iters.begin(), iters.end());
    if (Accept("domain")) b.domain = ParseMarks(body_);
    if (Is("[", 1)) ParseBody(b);
    if (Accept("from")) ParseOrigin(b);
    const Id node = p_.AddBlock(b);
    p_.Append(parent, node);
    const Scope inner = body_;
    ParseChildren(node, node, inner, depth);
    return node;
  }
  void ParseBody(BlockNode& b) {
    std::vector<Access> dests;
    do dests.push_back(ParseAccess());
    while (ok() && Accept(","));
    if (!ok()) return;
    b.dests = {static_cast<int32_t>(p_.accesses.size()), static_cast<int32_t>(dests.size())};
    p_.accesses.insert(p_.accesses.end(), dests.begin(), dests.end());
    if (!Is("=")) {
      b.accumulates = Accept("accumulate");
      const Token token = Next();
      const std::string name = Name("\"=\" or a monoid");
      const auto custom = monoids_.find(name);
      if (custom != monoids_.end()) {
        b.monoid = custom->second;
      } else {
        int kind = 0;
        constexpr int kCustom = static_cast<int>(Monoid::Kind::kCustom);
        while (kind < kCustom && ToString(static_cast<Monoid::Kind>(kind)) != name) ++kind;
        if (kind == kCustom) return FailAt(token, absl::StrCat("there is no monoid \"", name, "\""));
        b.monoid = p_.AddMonoid(static_cast<Monoid::Kind>(kind), p_.buffers[dests[0].buffer].dtype);
      }
    }
    Keyword("=");
    b.values = ParseExprs(dests.size());
    if (Accept("initial")) b.initial = ParseExprs(dests.size());
  }
  void ParseOrigin(BlockNode& b) {
    constexpr absl::string_view kKinds[] = {"compute", "copy", "init", "partial", "padding"};
    b.provenance.kind = static_cast<Provenance::Kind>(OneOf(kKinds, "an origin"));
    const Token token = Next();
    b.provenance.origin = b.provenance.kind == Provenance::Kind::kCopy ? BufferCalled(Name("a buffer"), token)
                                                                       : Id32("a block's number");
    if (Is("(")) b.provenance.map = ParseMarks(body_);
  }

  int depth_ = 0;
  Program p_;
  Scope body_;                  // the iters of the block being parsed
  std::vector<DType> results_;  // of the monoid being parsed
  std::map<std::string, Id> buffers_, monoids_;
  std::vector<std::string> constants_;
};

}  // namespace

absl::StatusOr<Program> ParseProgram(absl::string_view text) { return Parser(text).Parse(); }

}  // namespace kiln
