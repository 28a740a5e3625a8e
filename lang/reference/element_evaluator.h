// Computes single elements of a program's results on demand. It checks a few elements of programs that are too large to
// interpret whole (design D9).
//
// The program must be as imported: each block's loops run its whole iters, and no block continues a reduction that
// another block initializes. If several blocks may write an element, the last one in program order that has an instance
// for it counts. The elements that an instance reads are computed recursively, and all computed elements are cached.
// The cost of an element is that of the instances it depends on: one row times one column for an element of a matmul.
//
// Not thread safe. Keeps a reference to the program.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "lang/program/program.h"
#include "lang/program/scalar.h"

namespace kiln {

class ElementEvaluator {
 public:
  // A function that returns an element of an input by its position in row-major order. It must round the element to the
  // input's dtype.
  using Input = std::function<Scalar(Id buffer, int64_t index)>;

  // A function that the evaluator calls at every 4096th instance. Once it returns true, Evaluate fails with kCancelled
  // for each element that needs another instance to run: inputs and cached elements are still returned.
  using Stop = std::function<bool()>;

  ElementEvaluator(const Program& program, Input input, Stop stop = nullptr);
  ~ElementEvaluator();

  // Computes an element by its position in row-major order. kFailedPrecondition if the writer's index cannot be
  // inverted, or if the writer accumulates (the program was scheduled). kInternal if no block writes the element, or an
  // access is out of bounds. kCancelled if `stop` returned true.
  absl::StatusOr<Scalar> Evaluate(Id buffer, int64_t index);
  // Computes an element as Evaluate does, and converts it to a double (an i64 beyond 2^53 is rounded).
  absl::StatusOr<double> Number(Id buffer, int64_t index);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln
