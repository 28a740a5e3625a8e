// The kernel beside which candidates are timed (backends/runner/runner.h, ReferenceKernel).
#pragma once

#include "lang/program/program.h"
#include "lang/target/target.h"

namespace kiln {

// A matmul of 66 x 64 x 64 in f32, in vectors and register tiles of the target: multiply-adds and loads of
// the first caches, a few microseconds long.
//
// Tiles have twelve sums, and not the eight that just cover the latency of multiply-adds: with eight each
// delay counts. On Zen 3, beside another guest on the core, such a matmul takes 1.9 times as long as alone,
// this one 1.3 times, sums over what the first cache holds 1.4, a softmax 1.3 and a large product 1.1 times.
Program ReferenceKernelProgram(const Target& target);

}  // namespace kiln
