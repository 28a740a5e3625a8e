#include "search/features/gpu_roofline.h"

#include <algorithm>
#include <cmath>

#include "search/features/gpu_costs.h"

namespace kiln {
namespace {

constexpr GpuCosts kCosts;

int64_t RoundUp(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

// Returns the cycles of units that work at the same time: those of the busiest one, and the part 1 - overlap of the
// others'.
double Together(double overlap, std::initializer_list<double> units) {
  double most = 0, all = 0;
  for (const double unit : units) {
    most = std::max(most, unit);
    all += unit;
  }
  return most + (1 - overlap) * (all - most);
}

CompiledKernel Largest(absl::Span<const CompiledKernel> compiled) {
  CompiledKernel most;
  for (const CompiledKernel& c : compiled) {
    most.registers = std::max(most.registers, c.registers);
    most.spill_bytes = std::max(most.spill_bytes, c.spill_bytes);
    most.stack_bytes = std::max(most.stack_bytes, c.stack_bytes);
    most.shared_bytes = std::max(most.shared_bytes, c.shared_bytes);
  }
  return most;
}

}  // namespace

int64_t ThreadBlocksOfSm(const Gpu& gpu, int64_t threads, int64_t registers, int64_t shared_bytes) {
  const int64_t warps = std::max<int64_t>(1, RoundUp(threads, kWarpLanes) / kWarpLanes);
  // Computes for how many warps the registers of an SM suffice. A warp gets registers in steps of 8 a lane from one
  // scheduler. Each scheduler has an equal part of the SM's registers.
  const int64_t of_warp = RoundUp(std::max<int64_t>(registers, 1), 8) * kWarpLanes;
  const int64_t schedulers = std::max(1, gpu.warp_schedulers);
  const int64_t warps_of_registers = gpu.registers_per_sm / schedulers / of_warp * schedulers;
  int64_t blocks = std::min<int64_t>(gpu.blocks_per_sm, gpu.threads_per_sm / (warps * kWarpLanes));
  blocks = std::min(blocks, warps_of_registers / warps);
  if (threads > gpu.threads_per_block || shared_bytes > gpu.shared_per_block) return 0;
  return std::min(blocks,
                  gpu.shared_per_sm / (std::max<int64_t>(0, shared_bytes) + kCosts.reserved_shared_bytes));
}

double GpuRoofline::Cycles(const LoopNestSummary& nests, absl::Span<const CompiledKernel> compiled) {
  work_.Read(nests, gpu_);
  kernels_.clear();
  const bool matches = compiled.size() == work_.kernels().size();
  const CompiledKernel most = Largest(compiled);
  double cycles = 0;
  for (size_t k = 0; k < work_.kernels().size(); ++k) {
    kernels_.push_back(CyclesOf(work_.kernels()[k], matches ? compiled[k] : most));
    if (!work_.kernels()[k].prepared) cycles += kernels_.back().all;
  }
  return cycles;
}

// Adds up the cycles of each unit for a thread block. A statement that only some thread blocks run counts in
// proportion, but its latency counts in full.
void GpuRoofline::AddUnits(const GpuKernel& kernel, KernelCycles& c) {
  double beyond_l1 = 0;  // steps in which a warp waits for more than the L1 cache
  const double share =
      std::max(0.0, static_cast<double>(gpu_.shared_per_sm) / std::max(1.0, c.resident) - c.shared_bytes);
  const double l1_bytes = std::max(kCosts.least_l1_bytes, share);
  for (int32_t n = kernel.statements.begin; n < kernel.statements.begin + kernel.statements.count; ++n) {
    const GpuStatement& s = work_.statements()[n];
    const double part = s.grid / kernel.grid;
    const double l2_bytes = traffic_.L2Bytes(work_, s, l1_bytes);
    c.scalar +=
        part * (s.fma_f32 / std::max(1, gpu_.fma_f32) + s.fma_f64 / std::max(1.0, GpuCosts::FmaF64(gpu_)));
    c.matrix += part * s.matrix_cycles;
    c.issue += part * s.instructions / std::max(1, gpu_.warp_schedulers);
    c.l1 += part * (s.shared_cycles + std::max(s.global_requests, s.global_sectors * double{kSectorBytes} /
                                                                      kCosts.l1_bytes_per_cycle));
    c.sm_l2 += part * l2_bytes / kCosts.l2_bytes_per_cycle;
    c.l2_bytes += s.grid * l2_bytes;
    const double sectors = s.global_sectors * double{kSectorBytes};
    const double misses = sectors > 0 ? std::min(1.0, l2_bytes / sectors) : 0;
    c.latency += s.alone + s.waits * (kCosts.l1_latency + misses * kCosts.l2_latency);
    beyond_l1 += s.waits * misses;
  }
  const double from_memory = c.l2_bytes > 0 ? std::min(1.0, c.dram_bytes / c.l2_bytes) : 0;
  c.latency += kernel.barriers * kCosts.barrier_cycles +
               beyond_l1 * from_memory * (kCosts.memory_latency - kCosts.l2_latency);
}

// Sets the registers, the shared memory, the thread blocks that an SM holds (at least one, at most its share of the
// grid), and whether the kernel spills: from what the compiler reports, or else from guesses.
void GpuRoofline::FindRoom(const GpuKernel& kernel, const CompiledKernel& compiled, KernelCycles& c) const {
  const double threads = static_cast<double>(kernel.threads.Count());
  const double most =
      std::min<double>(gpu_.registers_per_thread, gpu_.registers_per_sm / std::max(1.0, threads));
  const bool known = compiled.registers > 0;
  c.registers = known ? static_cast<double>(compiled.registers) : std::min(kernel.registers, most);
  c.shared_bytes =
      compiled.shared_bytes > 0 ? static_cast<double>(compiled.shared_bytes) : kernel.shared_bytes;
  const int64_t fit = ThreadBlocksOfSm(gpu_, kernel.threads.Count(), static_cast<int64_t>(c.registers),
                                       static_cast<int64_t>(c.shared_bytes));
  // Counts a kernel as one that spills if the compiler reports spills or a stack, if the kernel does not fit on an SM,
  // or if the guess of its registers exceeds the registers of a thread.
  c.spills =
      compiled.spill_bytes > 0 || compiled.stack_bytes > 0 || fit == 0 || (!known && kernel.registers > most);
  const double needed = std::ceil(kernel.grid / std::max(1, gpu_.sms));
  c.resident = std::clamp(needed, 1.0, std::max(1.0, static_cast<double>(fit)));
}

KernelCycles GpuRoofline::CyclesOf(const GpuKernel& kernel, const CompiledKernel& compiled) {
  KernelCycles c;
  FindRoom(kernel, compiled, c);
  const double sms = std::max(1, gpu_.sms), of_wave = c.resident * sms;
  const KernelTraffic traffic = traffic_.OfKernel(work_, kernel, of_wave, static_cast<double>(gpu_.l2_bytes));
  c.touched_bytes = traffic.touched;
  c.dram_bytes = traffic.dram;
  AddUnits(kernel, c);
  c.waves = std::floor(kernel.grid / of_wave);
  const double rest = kernel.grid - c.waves * of_wave;
  c.tail = rest / of_wave;
  const auto wave = [&](double blocks) {  // of an SM
    const double units = Together(kCosts.overlap, {blocks * c.scalar, blocks * c.matrix, blocks * c.issue,
                                                   blocks * c.l1, blocks * c.sm_l2});
    return Together(kCosts.overlap, {units, c.latency});
  };
  const double waves = c.waves * wave(c.resident) + (rest > 0 ? wave(std::ceil(rest / sms)) : 0);
  c.l2 = c.l2_bytes / std::max(1.0, gpu_.l2_bytes_per_cycle);
  c.dram = c.dram_bytes / std::max(1.0, gpu_.dram_bytes_per_cycle);
  const double work = Together(kCosts.overlap, {waves, c.l2, c.dram});
  c.all = (kCosts.launch_cycles + work) * (c.spills ? kCosts.spill_penalty : 1);
  return c;
}

}  // namespace kiln
