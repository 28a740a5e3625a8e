#include "search/features/gpu_traffic.h"

#include <algorithm>
#include <cmath>

namespace kiln {
namespace {

constexpr double kSector = kSectorBytes;

bool IsAxis(const NestLoop& loop) { return IsBlockAxis(loop.kind) || IsThreadAxis(loop.kind); }

}  // namespace

// Sets running_, the number of iterations that each loop around a block runs: all for loops on axes of threads and,
// from depth `level` on, for loops on no axis of the GPU; one for all others, which include loops on axes of thread
// blocks.
void GpuTraffic::RunInside(const LoopNestSummary& nests, const NestBlock& block, int level) {
  running_.assign(block.depth, 1);
  for (int d = 0; d < block.depth; ++d) {
    const NestLoop& loop = nests.loops()[nests.path(block)[d]];
    if (IsThreadAxis(loop.kind) || (d >= level && !IsBlockAxis(loop.kind)))
      running_[d] = static_cast<double>(loop.extent);
  }
}

double GpuTraffic::WorkingSet(const GpuWork& work, const NestBlock& block, int level) {
  RunInside(work.nests(), block, level);
  double bytes = 0;
  for (const NestAccess& access : work.nests().accesses(block))
    if (work.IsInMemory(access.buffer)) bytes += BytesOf(work.nests(), access, running_);
  return bytes;
}

double GpuTraffic::L2Bytes(const GpuWork& work, const GpuStatement& statement, double l1_bytes) {
  const LoopNestSummary& nests = work.nests();
  const NestBlock& block = nests.blocks()[statement.block];
  if (statement.global_sectors == 0) return 0;
  int level = 0;  // the outermost loops inside of which all that is touched fits
  while (level <= block.depth && WorkingSet(work, block, level) > l1_bytes) ++level;
  double bytes = 0;
  for (int32_t a = block.accesses.begin; a < block.accesses.begin + block.accesses.count; ++a) {
    const NestAccess& access = nests.accesses()[a];
    const double requested = work.accesses()[a].sectors * kSector;
    if (requested == 0) continue;
    if (access.writes || level > block.depth) {
      bytes += requested;
      continue;
    }
    const uint64_t indexed = nests.Indexed(access);
    double again = 1;  // how often the loops outside read it
    bool moved = false;
    for (int d = level; d-- > 0;) {
      const NestLoop& loop = nests.loops()[nests.path(block)[d]];
      moved |= (indexed & LoopNestSummary::Bit(d)) != 0;
      if (moved && !IsAxis(loop)) again *= static_cast<double>(loop.extent);
    }
    bytes += std::min(requested, again * BytesOf(nests, access, running_));
  }
  return bytes;
}

// Adds to buffers_ the bytes that a statement reads and writes of each buffer in memory: in all thread blocks, and for
// reads also in `wave` thread blocks. Of several accesses to a buffer, the largest counts, since they mostly touch the
// same elements.
void GpuTraffic::AddBuffers(const GpuWork& work, const GpuStatement& statement, double wave) {
  const LoopNestSummary& nests = work.nests();
  const NestBlock& block = nests.blocks()[statement.block];
  for (const NestAccess& access : nests.accesses(block)) {
    if (!work.IsInMemory(access.buffer)) continue;
    auto of = std::find_if(buffers_.begin(), buffers_.end(),
                           [&](const OfBuffer& other) { return other.buffer == access.buffer; });
    if (of == buffers_.end()) of = buffers_.insert(of, {.buffer = access.buffer});
    RunInside(nests, block, 0);
    double left = wave;  // blocks are numbered along x, then y, then z
    for (const LoopKind axis : {LoopKind::kBlockX, LoopKind::kBlockY, LoopKind::kBlockZ}) {
      for (int d = 0; d < block.depth; ++d) {
        const NestLoop& loop = nests.loops()[nests.path(block)[d]];
        if (loop.kind != axis) continue;
        const double extent = static_cast<double>(loop.extent);
        running_[d] = std::min(extent, std::ceil(left));
        left = std::max(1.0, left / extent);
      }
    }
    const double in_wave = BytesOf(nests, access, running_);
    for (int d = 0; d < block.depth; ++d)
      running_[d] = static_cast<double>(nests.loops()[nests.path(block)[d]].extent);
    const double all = BytesOf(nests, access, running_);
    if (access.writes) of->written = std::max(of->written, all);
    if (!access.reads) continue;
    of->read = std::max(of->read, all);
    of->read_in_wave = std::max(of->read_in_wave, in_wave);
  }
}

KernelTraffic GpuTraffic::OfKernel(const GpuWork& work, const GpuKernel& kernel, double wave,
                                   double l2_bytes) {
  buffers_.clear();
  wave = std::clamp(wave, 1.0, std::max(1.0, kernel.grid));
  for (int32_t n = kernel.statements.begin; n < kernel.statements.begin + kernel.statements.count; ++n)
    AddBuffers(work, work.statements()[n], wave);
  KernelTraffic traffic;
  for (const OfBuffer& of : buffers_) traffic.touched += std::max(of.read, of.written);
  const double room = std::max(1.0, l2_bytes);
  const double misses = std::clamp((traffic.touched - room) / room, 0.0, 1.0);  // share of what is read again
  const double waves = std::ceil(kernel.grid / wave);
  for (const OfBuffer& of : buffers_) {
    traffic.dram += of.written;
    const bool stays =
        work.nests().program().buffers[of.buffer].role == Role::kTemporary && of.read <= room / 2;
    if (of.read == 0 || stays) continue;  // an earlier statement wrote it to the L2 cache
    traffic.dram += of.read + misses * std::max(0.0, waves * of.read_in_wave - of.read);
  }
  return traffic;
}

}  // namespace kiln
