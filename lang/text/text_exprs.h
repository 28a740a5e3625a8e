// Parses indices and expressions of programs (the grammar is in lang/text/text.h). A private part of the
// parser.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lang/program/program.h"
#include "lang/text/text_tokens.h"

namespace kiln {

// A recursive-descent parser of indices and expressions. After the first error, methods return at once with an
// arbitrary value.
class ExprReader : protected TokenReader {
 protected:
  struct Named {
    std::string name;
    Source source;
    double reach = 0;  // bound of the absolute value
  };
  using Scope = std::vector<Named>;

  explicit ExprReader(absl::string_view text) : TokenReader(text) {}

  Id BufferCalled(const std::string& name, const Token& token);
  // Fails at `token` if the absolute value of the size is above 2^40. Callers compute sizes as doubles, which do not
  // overflow.
  void CheckSize(double size, const Token& token);
  Extent ParseExtent();
  IndexSum ParseSum(const Scope& scope);
  Range ParseMarks(const Scope& scope);
  Access ParseAccess();
  Id ParseExpr();
  Range ParseExprs(size_t count);
  // Parses any number of definitions `value NAME = EXPR` of the current block.
  void ParseValues();

  Program p_;
  Scope body_;                  // the iters of the current block
  std::vector<DType> results_;  // result types of the current monoid
  std::map<std::string, Id> buffers_;
  std::map<std::string, Id> values_;  // the named values of the current block
  double reach_ = 0;                  // bound of the absolute value of the sum parsed last

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
