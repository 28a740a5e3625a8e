// The length of straight-line code that unrolling makes of a loop.
#pragma once

#include "absl/functional/function_ref.h"
#include "lang/program/program.h"

namespace kiln {

// Instructions in the straight line that a node becomes; 0 if it holds a loop that runs. From inside out,
// `block` says how many a block has, and `loop` how many a loop whose body is a line of so many: 0 if it
// runs. That may change the loop's kind.
int64_t StraightLine(const Program& program, Id node, absl::FunctionRef<int64_t(Id block)> block,
                     absl::FunctionRef<int64_t(Id loop, int64_t line)> loop);

}  // namespace kiln
