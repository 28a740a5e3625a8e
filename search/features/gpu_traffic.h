// Estimates the bytes that kernels move from and to the L2 cache and the memory beyond it.
//
//   traffic.L2Bytes(work, statement, 64 << 10)     // with 64 KiB of the L1 cache for a thread block
//   traffic.OfKernel(work, kernel, 132, 50 << 20)  // if 132 thread blocks run at a time, with an L2 cache of 50 MiB
//
// An L1 cache keeps what the innermost loops touch, as far as it fits. Stores take room in it, but each goes on to the
// L2 cache. What a kernel reads comes from memory once if all of it fits the L2 cache, and at worst once a wave of
// thread blocks.
#pragma once

#include <vector>

#include "search/features/gpu_work.h"

namespace kiln {

struct KernelTraffic {
  double touched = 0;  // bytes of buffers in memory
  double dram = 0;     // bytes that come from or go to memory beyond the L2 cache
};

// Estimates the bytes that statements and kernels move. Keeps its memory: use one per thread.
class GpuTraffic {
 public:
  // Returns the bytes that a statement of one thread block moves from and to the L2 cache, if it has `l1_bytes` of the
  // L1 cache.
  double L2Bytes(const GpuWork& work, const GpuStatement& statement, double l1_bytes);
  // Returns the bytes of memory that all thread blocks of a kernel touch, and the bytes that they move from and to the
  // memory beyond an L2 cache of `l2_bytes`, if `wave` of them run at a time. Temporaries that take at most half of the
  // L2 cache are read from there.
  KernelTraffic OfKernel(const GpuWork& work, const GpuKernel& kernel, double wave, double l2_bytes);

 private:
  struct OfBuffer {
    Id buffer = kNone;
    double read = 0, written = 0, read_in_wave = 0;
  };
  void AddBuffers(const GpuWork& work, const GpuStatement& statement, double wave);
  double WorkingSet(const GpuWork& work, const NestBlock& block, int level);
  void RunInside(const LoopNestSummary& nests, const NestBlock& block, int level);

  std::vector<double> running_;  // by depth of the loops around a block
  std::vector<OfBuffer> buffers_;
};

}  // namespace kiln
