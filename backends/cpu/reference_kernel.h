// The kernel beside which candidates are timed (backends/runner/runner.h, ReferenceKernel).
#pragma once

#include "lang/program.h"
#include "lang/target.h"

namespace kiln {

// A matmul of 64^3 in f32, in vectors and register tiles of the target: multiply-adds and loads of the first
// caches, a few microseconds long.
Program ReferenceKernelProgram(const Target& target);

}  // namespace kiln
