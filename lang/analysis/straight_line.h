// Computes how long the straight-line code is that unrolling makes of a loop.
#pragma once

#include "absl/functional/function_ref.h"
#include "lang/program/program.h"

namespace kiln {

// Returns the number of instructions of the straight-line code of a node. Returns 0 for the root, and if the node
// contains a loop that is not unrolled, or is a block that contains others. Works from the inside out. `block` returns
// the instructions of a block. `loop` returns those of a loop whose body has `line` instructions, or 0 if it is not
// unrolled; it may change the loop's kind.
int64_t StraightLine(const Program& program, Id node, absl::FunctionRef<int64_t(Id block)> block,
                     absl::FunctionRef<int64_t(Id loop, int64_t line)> loop);

}  // namespace kiln
