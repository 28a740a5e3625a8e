// Makes the programs of the reference kernels of CPUs and GPUs. They run before and after timed samples to show how
// slow the machine is just then (ReferenceKernel in backends/runner/runner.h).
#pragma once

#include "lang/program/program.h"
#include "lang/target/target.h"

namespace kiln {

// Returns the reference kernel of CPUs: a 66 x 64 x 64 matmul in f32, vectorized and tiled for the target's registers.
// It takes a few microseconds of multiply-adds and loads from the L1 cache.
//
// Its tiles have twelve accumulators. Eight would just cover the latency of multiply-adds, so that every delay would
// count: on Zen 3, with another guest on the core, a matmul with eight takes 1.9 times as long as alone. This kernel
// takes 1.3 times as long, sums over data in the L1 cache 1.4, a softmax 1.3 and a large matmul 1.1 times.
Program ReferenceKernelProgram(const Target& target);

// Returns the reference kernel of GPUs: 512 blocks of 256 threads. Each thread sums 512 products of f32 in a register.
Program GpuReferenceKernelProgram();

}  // namespace kiln
