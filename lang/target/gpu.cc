#include "lang/target/gpu.h"

namespace kiln {
namespace {

constexpr int64_t kKiB = 1 << 10, kMiB = 1 << 20;

// Returns a GPU with the limits of the generation Ampere (sm_80). `With` adds the numbers of one product.
constexpr Gpu Ampere(absl::string_view name) {
  Gpu gpu{.name = name, .sm = "sm_80", .shared_per_block = 163 * kKiB, .shared_per_sm = 164 * kKiB};
  gpu.threads_per_sm = 2048;
  gpu.blocks_per_sm = 32;
  return gpu;
}
constexpr Gpu Small(absl::string_view name, absl::string_view sm,
                    int blocks) {  // consumer and inference GPUs
  Gpu gpu{.name = name, .sm = sm, .shared_per_block = 99 * kKiB, .shared_per_sm = 100 * kKiB};
  gpu.threads_per_sm = 1536;
  gpu.blocks_per_sm = blocks;
  return gpu;
}
constexpr Gpu Large(absl::string_view name, absl::string_view sm) {  // data center GPUs with bulk copies
  Gpu gpu{.name = name, .sm = sm, .shared_per_block = 227 * kKiB, .shared_per_sm = 228 * kKiB};
  gpu.threads_per_sm = 2048;
  gpu.blocks_per_sm = 32;
  gpu.has_bulk = true;
  return gpu;
}
constexpr Gpu WithWgmma(Gpu gpu) {
  gpu.has_wgmma = true;
  return gpu;
}
constexpr Gpu WithTcgen05(Gpu gpu) {
  gpu.has_tcgen05 = true;
  return gpu;
}
constexpr Gpu WithBulk(Gpu gpu) {
  gpu.has_bulk = true;
  return gpu;
}

struct Speed {
  int sms;
  double clock_ghz;
  int64_t l2_mib;
  double l2_bytes_per_cycle, dram_gb_per_s;
  int fma_f32, fma_f16, fma_tf32, fma_i8;
};
constexpr Gpu With(Gpu gpu, const Speed& s) {
  gpu.sms = s.sms;
  gpu.clock_ghz = s.clock_ghz;
  gpu.l2_bytes = s.l2_mib * kMiB;
  gpu.l2_bytes_per_cycle = s.l2_bytes_per_cycle;
  gpu.dram_bytes_per_cycle = s.dram_gb_per_s / s.clock_ghz;
  gpu.fma_f32 = s.fma_f32;
  gpu.fma_f16 = s.fma_f16;
  gpu.fma_tf32 = s.fma_tf32;
  gpu.fma_i8 = s.fma_i8;
  return gpu;
}

// The known GPUs: SMs, GHz, MiB of L2, bytes a cycle from L2, GB/s from DRAM, and multiply-adds a cycle and SM by type.
// clang-format off
//                                              SMs   GHz   L2   L2/cycle  DRAM   f32  f16   tf32  i8
constexpr Gpu kGpus[] = {
    With(Ampere("a100"),                       {108, 1.410,  40,  5120,   2039,   64, 1024,  512, 2048}),
    With(Small("rtx3090", "sm_86", 16),        { 82, 1.695,   6,  2048,    936,  128,  256,  128, 1024}),
    With(Small("a10", "sm_86", 16),            { 72, 1.695,   6,  2048,    600,  128,  512,  256, 1024}),
    With(Small("l4", "sm_89", 24),             { 58, 2.040,  48,  2048,    300,  128,  512,  256, 1024}),
    With(Small("rtx4090", "sm_89", 24),        {128, 2.520,  72,  4096,   1008,  128,  256,  128, 1024}),
    With(WithWgmma(Large("h100", "sm_90a")),   {132, 1.830,  50,  6150,   3352,  128, 2048, 1024, 4096}),
    With(WithWgmma(Large("h200", "sm_90a")),   {132, 1.830,  50,  6150,   4800,  128, 2048, 1024, 4096}),
    With(WithTcgen05(Large("b200", "sm_100a")), {148, 1.850, 126,  9472,   8000,  128, 4096, 2048, 8192}),
    With(WithBulk(Small("rtx5090", "sm_120", 24)), {170, 2.407, 96, 5440,  1792,  128,  256,  128, 1024}),
};
// clang-format on

}  // namespace

absl::Span<const Gpu> Gpus() { return kGpus; }

const Gpu* FindGpu(absl::string_view name) {
  for (const Gpu& gpu : kGpus)
    if (gpu.name == name || gpu.sm == name) return &gpu;
  return nullptr;
}

}  // namespace kiln
