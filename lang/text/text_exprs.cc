#include "lang/text/text_exprs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/base/casts.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

// The largest absolute value of an extent, an index or the number of elements of a buffer that the parser accepts.
constexpr double kLargest = int64_t{1} << 40;

}  // namespace

Id ExprReader::BufferCalled(const std::string& name, const Token& token) {
  const auto it = buffers_.find(name);
  if (it != buffers_.end()) return it->second;
  FailAt(token, absl::StrCat("no buffer is called \"", name, "\""));
  return kNone;
}

Extent ExprReader::ParseExtent() {
  const Token token = Next();
  Extent extent;
  if (token.kind == Token::Kind::kNumber) {
    extent = Extent(Integer("an extent"));
  } else {
    const Id buffer = BufferCalled(Name("an extent"), token);
    Keyword("{");
    const int64_t lower = Integer("a minimum");
    Keyword("..");
    const int64_t upper = Integer("a maximum");
    Keyword("/");
    extent = Extent::Parameter(buffer, lower, upper, Integer("a divisor"));
    Keyword("}");
  }
  CheckSize(static_cast<double>(std::max(extent.UpperBound(), extent.divisor())), token);
  return extent;
}

void ExprReader::CheckSize(double size, const Token& token) {
  if (std::abs(size) > kLargest) FailAt(token, "the number, or what it is multiplied with, is beyond 2^40");
}

IndexSum ExprReader::ParseSum(const Scope& scope) {
  IndexSum sum;
  reach_ = 0;
  bool negative = Accept("-");
  do {
    const Token token = Next();
    if (token.kind == Token::Kind::kNumber) {
      const int64_t value = Integer("a number");
      reach_ += static_cast<double>(value);
      CheckSize(reach_, token);
      if (ok()) sum.offset += negative ? -value : value;
    } else {
      const std::string name = Name("an index");
      IndexSplit split;
      const auto named =
          std::find_if(scope.rbegin(), scope.rend(), [&](const Named& n) { return n.name == name; });
      if (named != scope.rend()) split.source = named->source;
      if (named == scope.rend()) FailAt(token, absl::StrCat("\"", name, "\" is not an index here"));
      if (Accept("/")) split.lower = Integer("a divisor");
      if (Accept("%")) split.extent = Integer("a remainder's extent");
      if (Accept("*")) split.scale = Integer("a factor");
      if (split.lower < 1 || split.extent < 0) FailAt(token, "a divisor is not positive");
      if (!ok()) return sum;
      CheckSize(static_cast<double>(split.lower) * std::max(1.0, static_cast<double>(split.extent)), token);
      reach_ += named->reach * std::abs(static_cast<double>(split.scale));
      CheckSize(std::max(reach_, std::abs(static_cast<double>(split.scale))), token);
      if (negative) split.scale = -split.scale;
      sum.splits.push_back(split);
    }
    negative = Is("-");
  } while (ok() && (Accept("+") || Accept("-")));
  return sum;
}

Range ExprReader::ParseMarks(const Scope& scope) {
  std::vector<int32_t> marks;
  Keyword("(");
  while (ok() && !Accept(")")) {
    if (!marks.empty()) Keyword(",");
    const IndexSum sum = ParseSum(scope);
    Keyword("<");
    marks.push_back(p_.AddMark(sum, ParseExtent()));
  }
  return p_.AddList(marks);
}

Access ExprReader::ParseAccess() {
  const Token token = Next();
  Access access;
  access.buffer = BufferCalled(Name("a buffer"), token);
  if (!ok()) return access;
  const Range shape = p_.buffers[access.buffer].shape;
  std::vector<int32_t> index;
  Keyword("[");
  while (ok() && !Accept("]")) {
    if (!index.empty()) Keyword(",");
    const IndexSum sum = ParseSum(body_);
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

Id ExprReader::ParseConstant(DType type) {
  int64_t bits = 0;
  const bool negative = Is("-");
  if (Accept("bits")) {
    bits = Integer("bits");
  } else if (!IsFloat(type)) {
    bits = Integer("an integer");
  } else {
    Accept("-");
    double value = 0;
    if (Is("inf") || Is("nan")) {
      value = Is("inf") ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    } else if (Next().kind != Token::Kind::kNumber || !absl::SimpleAtod(Next().text, &value)) {
      Wanted("a number");
      return 0;
    }
    ++at_;
    if (negative) value = -value;
    bits = absl::bit_cast<int64_t>(value);
  }
  return p_.AddExpr(Expr::Constant(type, bits));
}

Id ExprReader::ParseTyped(DType type, Op cast) {
  Keyword("(");
  const bool literal = Next().kind == Token::Kind::kNumber || Is("-") || Is("inf") || Is("nan") || Is("bits");
  const bool constant = literal && cast == Op::kCast;
  Id result = constant ? ParseConstant(type) : ParseExpr();
  if (!constant && ok()) result = p_.AddExpr({cast, type, result});
  Keyword(")");
  return result;
}

Id ExprReader::ParsePrimary() {
  if (++depth_ > 400) FailAt(Next(), "the expression is nested too deeply");
  const Id expr = ok() ? ParsePrimaryWithin() : 0;
  --depth_;
  return expr;
}

Id ExprReader::ParsePrimaryWithin() {
  if (Accept("(")) {
    const Id inner = ParseExpr();
    Keyword(")");
    return inner;
  }
  if (Next(1).text == "[" && Next(2).text == "{" && Next(2).kind == Token::Kind::kSign) return ParseGather();
  if (Next(1).text == "[" && Next(1).kind == Token::Kind::kSign) {
    const Access a = ParseAccess();
    if (!ok()) return 0;
    return p_.AddExpr(Expr::Load(p_.buffers[a.buffer].dtype, a.buffer, a.index));
  }
  const Token token = Next();
  const std::string name = Name("an expression");
  if (!ok()) return 0;
  int64_t number = 0;
  if (!results_.empty() && (name[0] == 'l' || name[0] == 'r') && absl::SimpleAtoi(name.substr(1), &number)) {
    const auto count = static_cast<int64_t>(results_.size());
    if (number < 0 || number >= count) FailAt(token, absl::StrCat("there are ", count, " results"));
    if (!ok()) return 0;
    return p_.AddExpr(Expr::Arg(results_[number], name[0] == 'l' ? number : count + number));
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
  const auto value = values_.find(name);
  return value != values_.end() ? value->second : ParseCall(name, token);
}

void ExprReader::ParseValues() {
  values_.clear();
  while (ok() && !Is("[", 1) && Accept("value")) {
    const Token token = Next();
    const std::string name = Name("a name");
    Keyword("=");
    const Id value = ParseExpr();
    if (ok() && !values_.emplace(name, value).second)
      FailAt(token, absl::StrCat("the block has a value \"", name, "\" already"));
  }
}

Id ExprReader::ParseGather() {
  const Token token = Next();
  const Id buffer = BufferCalled(Name("a buffer"), token);
  Id all = kNone;
  int count = 0;
  for (Keyword("["); ok() && !Accept("]"); ++count) {
    Keyword(count == 0 ? "{" : ",");
    if (count > 0) Keyword("{");
    const Id index = ParseExpr();
    Keyword("}");
    if (ok()) all = count == 0 ? index : p_.AddExpr({Op::kTuple, DType::kIndex, all, index});
  }
  const int rank = ok() ? p_.buffers[buffer].shape.count : 0;
  if (ok() && count != rank) FailAt(token, absl::StrCat("found ", count, " indices, wanted ", rank));
  return ok() ? p_.AddExpr(Expr::Gather(p_.buffers[buffer].dtype, buffer, all)) : 0;
}

Id ExprReader::ParseCall(const std::string& name, const Token& token) {
  int op = 0;
  while (op < kNumOps && ToString(static_cast<Op>(op)) != name) ++op;
  Expr e;
  e.op = static_cast<Op>(op);
  if (op == kNumOps || (Arity(e.op) == 0 && e.op != Op::kIndex) || e.op == Op::kGather ||
      e.op == Op::kTuple) {
    FailAt(token, absl::StrCat("there is no operation \"", name, "\""));
    return 0;
  }
  Keyword("(");
  if (e.op == Op::kIndex) {
    e = Expr::Index(p_.AddMark(ParseSum(body_), std::numeric_limits<int64_t>::max()));
  } else {
    if (e.op == Op::kWithin) {
      e = Expr::Within(e.dtype, ParseMarks(body_), kNone, kNone);
      Keyword(",");
    }
    for (Id& operand : e.Operands()) {
      if (&operand != e.Operands().data()) Keyword(",");
      operand = ParseExpr();
    }
    if (!ok()) return 0;
    e.dtype = IsComparison(e.op) ? DType::kI1 : p_.exprs[e.operand(e.op == Op::kSelect ? 1 : 0)].dtype;
  }
  Keyword(")");
  return p_.AddExpr(e);
}

Id ExprReader::Infix(Op op, Id left, Id right) {
  return ok() ? p_.AddExpr({op, p_.exprs[left].dtype, left, right}) : 0;
}

Id ExprReader::ParseProduct() {
  Id left = ParsePrimary();
  while (ok() && (Is("*") || Is("/"))) {
    const Op op = Accept("*") ? Op::kMul : (Accept("/"), Op::kDiv);
    left = Infix(op, left, ParsePrimary());
  }
  return left;
}

Id ExprReader::ParseExpr() {
  Id left = ParseProduct();
  while (ok() && (Is("+") || Is("-"))) {
    const Op op = Accept("+") ? Op::kAdd : (Accept("-"), Op::kSub);
    left = Infix(op, left, ParseProduct());
  }
  return left;
}

Range ExprReader::ParseExprs(size_t count) {
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

}  // namespace kiln
