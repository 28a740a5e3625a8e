// The GPUs that Kiln knows, with the numbers that limits, features and cost models read. Each is a row of one
// table in gpu.cc. A new GPU takes one row.
//
//   const Gpu* gpu = FindGpu("h100");      // nullptr if there is none
//   gpu->shared_per_block
//
// The numbers are those of data sheets and of NVIDIA's tuning guides; a run on the GPU may correct them.
// Thread-safe.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace kiln {

struct Gpu {
  absl::string_view name;  // "h100"
  absl::string_view sm;    // what ptxas calls it: "sm_90a"

  // Limits of the resources that a kernel may use: shared memory, registers, threads and blocks.
  int64_t shared_per_block = 0, shared_per_sm = 0;  // bytes
  int registers_per_sm = 65536;                     // of 32 bits
  int registers_per_thread = 255;
  int accumulators =
      128;  // registers of a thread that may hold results of a matrix instruction without spills
  int threads_per_block = 1024, threads_per_sm = 0, blocks_per_sm = 0;
  int warp_schedulers = 4;  // of an SM; each issues one instruction a cycle

  // The speed of the GPU: the number of SMs, the clock, the size and rate of the L2 cache, and the rate of DRAM.
  int sms = 0;
  double clock_ghz = 0;  // boost
  int64_t l2_bytes = 0;
  double l2_bytes_per_cycle = 0;    // of the whole GPU
  double dram_bytes_per_cycle = 0;  // of the whole GPU
  // Multiply-adds a cycle and SM: f32 on scalar units, and on matrix units with factors of these types (with
  // f32 or i32 sums).
  int fma_f32 = 0, fma_f16 = 0, fma_tf32 = 0, fma_i8 = 0;

  bool has_bulk = false;   // copies in bulk and barriers that count bytes
  bool has_wgmma = false;  // matrix instructions of warpgroups
  bool has_tcgen05 = false;
};

// Returns all known GPUs, in the order of the table in gpu.cc.
absl::Span<const Gpu> Gpus();
// Finds a GPU by its name, such as "h100", or by its architecture: for "sm_90a", returns the first GPU of that kind.
// Returns nullptr if there is none.
const Gpu* FindGpu(absl::string_view name);

}  // namespace kiln
