// The reference interpreter: what a Program means, executed (the essay in lang/program/program.h, to the letter). It
// shares nothing with lowering, and reads bindings as they stand, without the algebra's help. About 10-30
// million block instances a second.
//
// Kinds of loops change nothing: all run in order, or, on request, those whose iterations may run at once in
// a random one, and pipelined ones in another of theirs, which finds loops that may not. For single elements
// of large programs see lang/reference/element_evaluator.h.
//
// Buffers are bytes: elements row-major by the logical shape, whatever the layout; SizeOf(dtype) each, little
// endian. Pure; any number of threads may run the same program.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lang/program/program.h"

namespace kiln {

// Which of the orders that a pipelined loop allows: iteration by iteration; early stages as soon, or as late,
// as may be; or (with `shuffle` as seed) a random one.
enum class PipelineOrder { kInTurn, kEager, kLate, kRandom };

struct InterpreterOptions {
  // Not 0: a seed; parallel, vectorized and GPU loops run in a random order.
  uint64_t shuffle = 0;
  PipelineOrder pipelines = PipelineOrder::kInTurn;
  // Return kInternal, with the block and the element, for an undefined operation: a division by zero or of
  // the least number by -1, a shift beyond the width. Otherwise such an operation gives some value.
  bool only_defined = false;
  // Return kInternal for a gather out of bounds, too. Otherwise it reads the nearest element.
  bool only_within = false;
};

// `inputs`: the parameters that are no outputs, in the order of Program::parameters. Returns the outputs, in
// that order; elements that no instance writes are bytes of 0xA5. kFailedPrecondition where an extent is a
// parameter. kInvalidArgument for inputs of a wrong
// number or size, and where the program's status is not 0. kInternal, with the block and the element, where
// an access is out of bounds, a temporary's or output's element is read before it is written, or a reduction
// combines into an element that nothing initialized.
absl::StatusOr<std::vector<std::string>> Run(const Program& program, absl::Span<const std::string> inputs,
                                             const InterpreterOptions& options = {});

// Bytes of a buffer.
int64_t BytesOf(const Program& program, Id buffer);

}  // namespace kiln
