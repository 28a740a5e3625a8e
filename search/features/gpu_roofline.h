// Estimates the cycles of a scheduled program on a GPU, without running it.
//
//   GpuRoofline roofline(*target.gpu);                          // one per thread: it keeps its memory
//   const double cycles = roofline.Cycles(nests);               // after nests.Read(program)
//   const double better = roofline.Cycles(nests, compiled);     // with what a compiler found
//
// A kernel starts, and its thread blocks run in waves: as many at a time as registers, threads and shared memory of the
// SMs allow. In a wave, the busiest unit decides: scalar or matrix units, the issue of instructions, the L1 cache with
// shared memory, or the way to the L2 cache. But no wave is shorter than its threads wait, for memory, for sums and at
// barriers. Times that overlap do so only in part: a fifth of each shorter one is added to the longest. A kernel also
// takes as long as the L2 cache and the memory need for its bytes. A kernel that spills registers or does not fit an SM
// counts eight times. The terms are those of DeepGEMM's choice of tiles and of the roofline model.
//
// Cycles order programs; they are no times. Kernels of the prepare phase count nothing. There are no errors.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "lang/target/gpu.h"
#include "search/features/gpu_traffic.h"
#include "search/features/gpu_work.h"

namespace kiln {

// What a compiler reports about a kernel. These numbers replace the guesses of the estimate.
struct CompiledKernel {
  int64_t registers = 0;  // of a thread; 0: not known
  int64_t spill_bytes = 0, stack_bytes = 0;
  int64_t shared_bytes = 0;  // static and dynamic; 0: not known
};

// Returns how many thread blocks an SM runs at a time, if each has so many threads, registers per thread, and bytes of
// shared memory. Returns 0 if none fits.
int64_t ThreadBlocksOfSm(const Gpu& gpu, int64_t threads, int64_t registers, int64_t shared_bytes);

// The estimated cycles of a kernel, with the resources, cycles of units and bytes from which they are computed.
struct KernelCycles {
  double registers = 0, shared_bytes = 0;  // those of the compiler, or guesses
  double resident = 0;                     // thread blocks of an SM
  double waves = 0, tail = 0;              // full waves; thread blocks of the last one, as a share
  double scalar = 0, matrix = 0, issue = 0, l1 = 0, sm_l2 = 0;  // of a thread block, in each unit
  double latency = 0;                                           // of a thread block alone
  double l2 = 0, dram = 0;                                      // of the kernel
  double l2_bytes = 0, dram_bytes = 0, touched_bytes = 0;       // of the kernel
  bool spills = false;
  double all = 0;
};

class GpuRoofline {
 public:
  explicit GpuRoofline(const Gpu& gpu) : gpu_(gpu) {}

  // Estimates the cycles of the program that `nests` has read. `compiled` is what a compiler reports about the kernels,
  // the children of the root, in program order. If it does not have one entry for each kernel, each kernel gets the
  // maximum of each number over all entries. If it is empty, all numbers are guessed.
  double Cycles(const LoopNestSummary& nests, absl::Span<const CompiledKernel> compiled = {});

  // Return the GPU, and the work and the cycles of each kernel that the last call of Cycles computed.
  const Gpu& gpu() const { return gpu_; }
  const GpuWork& work() const { return work_; }
  const std::vector<KernelCycles>& kernels() const { return kernels_; }

 private:
  KernelCycles CyclesOf(const GpuKernel& kernel, const CompiledKernel& compiled);
  void FindRoom(const GpuKernel& kernel, const CompiledKernel& compiled, KernelCycles& cycles) const;
  void AddUnits(const GpuKernel& kernel, KernelCycles& cycles);

  const Gpu gpu_;
  GpuWork work_;
  GpuTraffic traffic_;
  std::vector<KernelCycles> kernels_;
};

}  // namespace kiln
