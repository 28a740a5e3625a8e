// The features of a program for a GPU: one row of numbers for each statement (a block without blocks
// inside), from the work and the cycles that search/features/gpu_roofline.h finds.
//
// Columns are log2(1 + x), but for flags and ratios, marked (r). Counts are those of a thread block.
//
//   operations.*     per kind, times the instances of a thread, as the columns float_add .. within of
//                    search/features/features.h
//   statement.*      thread blocks, threads, warps, instances, straight lines of a thread, instances of one;
//                    (r) share of the lanes of its warps that run; cycles of scalar units and of matrix
//                    units; instructions; steps that wait; reductions over threads; registers of a line
//   memory.*         requests to memory, sectors of these, (r) sectors over the least, requests to shared
//                    memory, (r) cycles of one
//   store.*          flags: to global memory, shared memory, registers; copies, initializes, reduces
//   kernel.*         thread blocks, threads along x, y and z, shared bytes, registers, accumulators, barriers,
//                    (r) barriers a thousand instructions, depth of rings, (r) thread blocks of an SM,
//                    (r) share of an SM's threads that run, waves, (r) the last wave, whether it spills
//   cycles.*         of a thread block in scalar units, matrix units, instruction issue, the L1 cache, the way
//                    to the L2 cache, and alone; of the kernel in the L2 cache, in memory, and at all
//   bytes.*          of the kernel: through the L2 cache, from memory; (r) cycles of scalar and matrix units over
//                    those of the way to the L2 cache
//   program.*        kernels, cycles
//   bufferN.*        the destination, then what is read, by requests; of more than five, those with most:
//                    reads, writes, is shared (flags), requests, (r) sectors or cycles of a request, width in
//                    bytes, bytes that the kernel touches, whether each thread block touches others (flag)
#pragma once

#include "search/features/feature_set.h"
#include "search/features/gpu_roofline.h"

namespace kiln {

inline constexpr int kGpuBufferSlots = 5, kGpuBufferColumns = 8;
inline constexpr int kGpuColumns = 68;  // without those of buffers
inline constexpr int kGpuProgramCycles = kGpuColumns - 1;
inline constexpr int kGpuFeatureDim = kGpuColumns + kGpuBufferSlots * kGpuBufferColumns;

// Sets `features` to those of the program whose cycles `roofline` estimated last: one row for each statement outside of
// the prepare phase.
void FillGpuFeatures(const GpuRoofline& roofline, FeatureSet& features);

}  // namespace kiln
