// Indices and expressions of programs as text (the grammar is that of lang/text/text.h). A part of the parser, of
// no use elsewhere.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lang/program/program.h"
#include "lang/text/text_tokens.h"

namespace kiln {

// Recursive descent. After the first error every method returns at once, with some value.
class ExprReader : protected TokenReader {
 protected:
  struct Named {
    std::string name;
    Source source;
    double reach = 0;  // no value of it is larger
  };
  using Scope = std::vector<Named>;

  explicit ExprReader(absl::string_view text) : TokenReader(text) {}

  Id BufferCalled(const std::string& name, const Token& token);
  // Fails if the number is so large that products of two would overflow.
  void CheckSize(double size, const Token& token);
  Extent ParseExtent();
  Sum ParseSum(const Scope& scope);
  Range ParseMarks(const Scope& scope);
  Access ParseAccess();
  Id ParseExpr();
  Range ParseExprs(size_t count);
  // value NAME = EXPR, any number of them: values of the block being parsed.
  void ParseValues();

  Program p_;
  Scope body_;                  // the iters of the block being parsed
  std::vector<DType> results_;  // of the monoid being parsed
  std::map<std::string, Id> buffers_;
  std::map<std::string, Id> values_;  // of the block being parsed
  double reach_ = 0;                  // of the sum parsed last

 private:
  Id ParseConstant(DType type);
  Id ParseTyped(DType type, Op cast);
  Id ParsePrimary();
  Id ParsePrimaryWithin();
  Id ParseGather();
  Id ParseCall(const std::string& name, const Token& token);
  Id Infix(Op op, Id left, Id right);
  Id ParseProduct();

  int depth_ = 0;
};

}  // namespace kiln
