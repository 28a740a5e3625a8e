// Finds an expression in the pool of a program, and says which buffers each one reads.
//
// A part of Program (lang/program/program.h): AddExpr keeps it. It is made of flat vectors, so that programs stay
// cheap to copy. Expressions must not change once they are added, or Rebuild follows.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "lang/program/expr.h"
#include "lang/program/ids.h"

namespace kiln {

class ExprIndex {
 public:
  // The one of the pool that is equal, or kNone. Takes constant time.
  Id Find(const std::vector<Expr>& exprs, const Expr& expr) const;
  // Takes in what the pool has and the index has not.
  void Update(const std::vector<Expr>& exprs);
  // Takes in the pool anew, whose expressions changed.
  void Rebuild(const std::vector<Expr>& exprs) {
    *this = {};
    Update(exprs);
  }
  // Distinct buffers that it reads, itself and in its operands, in order of first use.
  absl::Span<const Id> Reads(Id expr) const {
    return {buffers_.data() + reads_[expr].begin, static_cast<size_t>(reads_[expr].count)};
  }

 private:
  Range ReadsOf(const Expr& expr);
  void Insert(const std::vector<Expr>& exprs, Id expr);
  std::vector<Id> slots_;     // a hash table with open addressing, of 2^n places; kNone: free
  std::vector<Range> reads_;  // of each expression, in buffers_; shared with an operand's where equal
  std::vector<Id> buffers_;
};

}  // namespace kiln
