// Finds an expression in the pool of a program, and tells which buffers each expression reads.
//
// A part of Program (lang/program/program.h), maintained by AddExpr. It consists of flat vectors, so
// programs stay cheap to copy. After any other change of an expression, call Rebuild.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "lang/program/expr.h"
#include "lang/program/ids.h"

namespace kiln {

class ExprIndex {
 public:
  // Returns the id of the expression of the pool `exprs` that equals `expr`, or kNone. Takes constant time.
  Id Find(const std::vector<Expr>& exprs, const Expr& expr) const;
  // Adds the expressions that were appended to the pool since the last call.
  void Update(const std::vector<Expr>& exprs);
  // Rebuilds the index after expressions of the pool changed.
  void Rebuild(const std::vector<Expr>& exprs) {
    *this = {};
    Update(exprs);
  }
  // Returns the distinct buffers that an expression reads, itself or in its operands, in order of first use.
  absl::Span<const Id> Reads(Id expr) const {
    return {buffers_.data() + reads_[expr].begin, static_cast<size_t>(reads_[expr].count)};
  }

 private:
  Range ReadsOf(const Expr& expr);
  void Insert(const std::vector<Expr>& exprs, Id expr);
  std::vector<Id> slots_;     // a hash table with open addressing and 2^n slots; kNone marks a free slot
  std::vector<Range> reads_;  // of each expression, in buffers_; shared with an operand if equal
  std::vector<Id> buffers_;
};

}  // namespace kiln
