// Symbolic execution: runs a program on terms instead of numbers. The term of an element describes how its value was
// computed. Two programs whose outputs have equal terms compute the same for every input, without a tolerance.
// Exceptions are the rounding of reductions in another order, the sign of a zero, and 0 times infinity or NaN, which
// counts as 0.
//
// A term is an element of an input, a constant, an operation on terms, or a bag: the unordered operands of a
// reduction. A body's term contains the terms of its loads, so copies and inlining change no term. A bag that
// is an operand of a reduction with the same monoid is merged into it, so partial results and the order of a
// reduction change no term. An instance that runs twice or is missing changes the term (running twice does
// not if the monoid is idempotent). Indices, constants and guards are evaluated, neutral operands (padding)
// are left out, and 0 times anything is 0. Terms are 128-bit hashes.
//
// It also finds what the interpreter refuses by default (lang/reference/interpreter.h): accesses out of bounds, reads
// before writes, and reductions without initialization. A gather at an unknown index counts as a read of every element
// that it may reach. It finds conflicts between iterations of a parallel, vectorized, virtual-thread or GPU axis loop:
// an iteration must not read, overwrite with a different value, or (unless the iterations are lanes or threads) combine
// into what another iteration wrote. Buffers that each iteration has for itself may be overwritten. And it finds reads
// of what another owner (a thread, warp or block) wrote to its own copy of a buffer.
//
// Runs about 5 million instances per second. Pure; any number of threads may run the same program.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "lang/base/mixer.h"
#include "lang/reference/interpreter.h"

namespace kiln {

struct SymbolicElement {
  Hash128 term;          // 0 if no instance wrote it
  int64_t combined = 0;  // for the result of a reduction: the number of operands
  friend bool operator==(const SymbolicElement& a, const SymbolicElement& b) { return a.term == b.term; }
};

// The result of symbolic execution: the terms of the elements of each output, in row-major order. The outputs are in
// the order of Program::parameters; the status comes last.
using SymbolicOutputs = std::vector<std::vector<SymbolicElement>>;

// Runs the program on terms. kInternal for an access that the interpreter refuses by default, or if iterations or
// owners conflict. All extents must be constants, or it aborts. Of the options, it heeds `shuffle` and `pipelines`
// alone.
absl::StatusOr<SymbolicOutputs> RunSymbolic(const Program& program, const InterpreterOptions& options = {});

// OK if the program's outputs have the terms `wanted`, which come from a program with the same parameters. Otherwise
// kInternal with the first element that differs, or the error of RunSymbolic.
absl::Status CheckSymbolic(const Program& program, const SymbolicOutputs& wanted,
                           const InterpreterOptions& options = {});

}  // namespace kiln
