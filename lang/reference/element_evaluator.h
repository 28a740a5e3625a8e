// Single elements of the results of a program, computed when asked: for checking a few elements of programs
// that are too large to interpret whole (design D9).
//
// For programs as they are imported: each block's loops run through its whole iters, and every element is
// written by one block (the last that can, if there are several). Elements of temporaries are computed
// recursively and remembered. The cost is that of the instances that the element depends on: one row times
// one column for an element of a matmul.
//
// Not thread safe. Refers to the program; keep it.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "lang/program/program.h"
#include "lang/program/scalar.h"

namespace kiln {

class ElementEvaluator {
 public:
  // The element of a parameter that is no output, by its position in row-major order.
  // Rounded to the dtype by the caller.
  using Input = std::function<Scalar(Id buffer, int64_t index)>;

  // Asked now and then; once it says yes, elements that are not known yet are kCancelled.
  using Stop = std::function<bool()>;

  ElementEvaluator(const Program& program, Input input, Stop stop = nullptr);
  ~ElementEvaluator();

  // kFailedPrecondition if the block that writes it does so at indices that cannot be inverted, or
  // accumulates (the program is a scheduled one); kInternal if nothing writes it, or an access is out of
  // bounds.
  absl::StatusOr<Scalar> Evaluate(Id buffer, int64_t index);
  // The same as a number (an i64 beyond 2^53 is rounded).
  absl::StatusOr<double> Number(Id buffer, int64_t index);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln
