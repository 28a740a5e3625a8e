// Rewrites expressions that compute the same to one form.
//
//   x/4 -> x*0.25      x + -0.0, x*1 -> x      select(x >u 0, x, 0) -> max(x, 0)      select(i >= 0, a, b) -> a
//
// Not a bit changes, but for two rules, which are right for numbers. They need `assume_numbers`, a lemma:
//
//   select(x > 0, x, 0) -> max(x, 0)      of NaN, NaN instead of one of the operands; of zeros, any zero
//   x + 0.0 -> x                          -0 stays -0
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lang/analysis/value_range.h"
#include "lang/program/program.h"

namespace kiln {

class PlainExpressions {
 public:
  // With `assume_numbers`, treats operands of a maximum or minimum that a select writes as never NaN, and the sign of a
  // zero as irrelevant. The program must outlive this object.
  PlainExpressions(Program& program, bool assume_numbers) : p_(program), assume_(assume_numbers) {}

  // Rewrites the values and initial values of a block to their plain form.
  void Rewrite(Id block);
  // Returns how many expressions were rewritten to others that may differ for NaN or in the sign of a zero.
  int assumed() const { return assumed_; }

 private:
  Range Of(Range list);
  Id Of(Id expr);
  Id Plain(const Expr& e);
  Id PlainSelect(const Expr& e);
  Id WithoutZero(const Expr& e);
  Id Add(const Expr& e) { return p_.AddExpr(e); }
  Id Literal(DType dtype, double value);
  ValueRange RangeOf(Id expr);
  ValueRange RangeOf(const Expr& e);

  Program& p_;
  const bool assume_;
  int assumed_ = 0;
  std::vector<int64_t> extents_;           // of the block's iters
  absl::flat_hash_map<Id, Id> rewritten_;  // of the block
  absl::flat_hash_map<Id, ValueRange> ranges_;
};

}  // namespace kiln
