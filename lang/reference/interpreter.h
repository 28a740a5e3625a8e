// The reference interpreter: executes a Program exactly as lang/program/program.h defines it. It shares no
// code with lowering and evaluates bindings directly, without the index algebra. It runs about 10-30 million
// block instances per second.
//
// Kinds of loops do not change results: by default, all loops run serially. On request, the iterations of loops that
// are parallel in any way run in random order, and pipelined loops in another legal order. A caller that compares the
// results finds loops whose order matters although it must not. For single elements of large programs see
// lang/reference/element_evaluator.h.
//
// Buffers are bytes: elements in row-major order of the logical shape, whatever the layout, SizeOf(dtype)
// each, little endian. Pure; any number of threads may run the same program.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lang/program/program.h"

namespace kiln {

// The order of a pipelined loop, among those that are legal: iteration by iteration; early stages as soon, or
// as late, as possible; or random (seeded by `shuffle`).
enum class PipelineOrder { kInTurn, kEager, kLate, kRandom };

struct InterpreterOptions {
  // If not 0, a seed: the iterations of parallel, vectorized, virtual-thread and GPU axis loops run in random order.
  uint64_t shuffle = 0;
  PipelineOrder pipelines = PipelineOrder::kInTurn;
  // If true, an undefined operation on integers fails with kInternal, naming the block and element: a division by zero
  // or of the smallest integer by -1, or a shift beyond the width. If false, such an operation gives some value.
  bool only_defined = false;
  // If true, a gather out of bounds fails with kInternal. If false, it reads the nearest element.
  bool only_within = false;
};

// Runs the program. `inputs` are the parameters that are not outputs, in the order of Program::parameters.
// Returns the outputs in that order; elements that no instance writes are bytes of 0xA5. kFailedPrecondition
// if an extent is a parameter. kInvalidArgument if inputs have a wrong number or size, or if the program's
// status is not 0. kInternal, with the block and the element, if an access is out of bounds, if an element of
// a temporary or output is read before it is written, or if a reduction combines into an element that was not
// initialized.
absl::StatusOr<std::vector<std::string>> Run(const Program& program, absl::Span<const std::string> inputs,
                                             const InterpreterOptions& options = {});

}  // namespace kiln
