// Constants of the cost estimate that are the same for every GPU, such as latencies. Numbers that differ between GPUs
// are in lang/target/gpu.h. The constants come from manuals and papers on microbenchmarks; a run on a GPU may correct
// them.
#pragma once

#include <cstdint>

#include "lang/target/gpu.h"

namespace kiln {

struct GpuCosts {
  double launch_cycles = 3000;  // of a kernel
  // Cycles that a warp waits: for the L1 cache, the L2 cache, memory, shared memory, the result of a multiply-add, and
  // at a barrier.
  double l1_latency = 40, l2_latency = 280, memory_latency = 600, shared_latency = 30, fma_latency = 4;
  double barrier_cycles = 40;
  // Bytes that an SM gets per cycle: from its L1 cache or shared memory, and from the L2 cache.
  double l1_bytes_per_cycle = 128, l2_bytes_per_cycle = 64;
  // Instructions that a warp issues: for a mathematical function, for a division, and for the counter of a loop in each
  // iteration.
  double special_instructions = 20, divide_instructions = 10, loop_instructions = 3;
  double loads_ahead = 2;      // iterations of a loop whose loads are under way at the same time
  double overlap = 0.8;        // share of the work of other units that the busiest unit hides
  double base_registers = 24;  // of a thread, for counters and indices
  double address_registers = 2;
  double most_line_registers = 64;       // for loads: those of longer straight lines are not made at once
  double exchange_bytes = 8;             // of shared memory, for what a warp adds to a reduction over threads
  double spill_penalty = 8;              // factor on the time of a kernel that spills or does not fit
  int64_t reserved_shared_bytes = 1024;  // of each thread block
  double least_l1_bytes = 8 << 10;       // of the L1 cache, for a thread block

  // Returns how many f64 multiply-adds an SM makes per cycle: half the number of f32 ones on GPUs for data centers,
  // which have 2048 threads on an SM, and 1/64 on others.
  static double FmaF64(const Gpu& gpu) { return gpu.fma_f32 / (gpu.threads_per_sm >= 2048 ? 2.0 : 64.0); }
};

}  // namespace kiln
