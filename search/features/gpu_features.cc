#include "search/features/gpu_features.h"

#include <algorithm>
#include <cmath>

#include "lang/base/check.h"
#include "search/features/columns.h"

namespace kiln {
namespace {

// Writes the columns of a feature row one after the other, plain or on the log2 scale.
class Columns {
 public:
  explicit Columns(float* row) : row_(row) {}
  void AddLog(double x) { row_[at_++] = Log(std::max(0.0, x)); }
  void Add(double x) { row_[at_++] = static_cast<float>(x); }  // a flag or a ratio
  int at() const { return at_; }

 private:
  float* row_;
  int at_ = 0;
};

double Ratio(double a, double b) { return b > 0 ? a / b : 0; }

void AddStatement(const GpuRoofline& roofline, const GpuStatement& s, Columns& columns) {
  const GpuWork& work = roofline.work();
  const NestBlock& block = work.nests().blocks()[s.block];
  const Program& p = work.nests().program();
  const BlockNode& b = p.block(block.node);
  const double of_thread = Ratio(s.instances, s.threads);
  for (int kind = kFloatAdd; kind <= kWithins; ++kind) columns.AddLog(s.operations.counts[kind] * of_thread);
  for (const double x : {s.grid, s.threads, s.warps, s.instances, s.steps, s.line}) columns.AddLog(x);
  columns.Add(Ratio(s.threads, s.warps * kWarpLanes));
  for (const double x :
       {s.fma_f32 + s.fma_f64, s.matrix_cycles, s.instructions, s.waits, s.combines, s.line_registers})
    columns.AddLog(x);
  columns.AddLog(s.global_requests);
  columns.AddLog(s.global_sectors);
  columns.Add(Ratio(s.global_sectors, s.least_sectors));
  columns.AddLog(s.shared_requests);
  columns.Add(Ratio(s.shared_cycles, s.shared_requests));
  const Storage storage = p.buffers[p.Accesses(b.dests)[0].buffer].scope.storage;
  columns.Add(storage == Storage::kGlobal);
  columns.Add(storage == Storage::kShared);
  columns.Add(storage != Storage::kGlobal && storage != Storage::kShared);
  columns.Add(b.provenance.kind == Provenance::Kind::kCopy);
  columns.Add(b.provenance.kind == Provenance::Kind::kInit);
  columns.Add(b.monoid != kNone);
}

void AddKernel(const GpuRoofline& roofline, int32_t number, double instructions, Columns& columns) {
  const GpuKernel& kernel = roofline.work().kernels()[number];
  const KernelCycles& cycles = roofline.kernels()[number];
  const double threads = static_cast<double>(kernel.threads.Count());
  columns.AddLog(kernel.grid);
  for (const int64_t size : {kernel.threads.x, kernel.threads.y, kernel.threads.z})
    columns.AddLog(static_cast<double>(size));
  for (const double x : {cycles.shared_bytes, cycles.registers, kernel.accumulators, kernel.barriers})
    columns.AddLog(x);
  columns.Add(std::min(1000.0, Ratio(1000 * kernel.barriers, instructions)));
  columns.AddLog(kernel.ring_depth);
  columns.Add(cycles.resident);
  columns.Add(Ratio(cycles.resident * threads, roofline.gpu().threads_per_sm));
  columns.AddLog(cycles.waves);
  columns.Add(cycles.tail);
  columns.Add(cycles.spills);
  for (const double x : {cycles.scalar, cycles.matrix, cycles.issue, cycles.l1, cycles.sm_l2, cycles.latency,
                         cycles.l2, cycles.dram, cycles.all, cycles.l2_bytes, cycles.dram_bytes})
    columns.AddLog(x);
  columns.Add(std::min(1000.0, Ratio(cycles.scalar + cycles.matrix, cycles.sm_l2)));
}

// Fills the buffer columns of a statement's feature row: first the access to the destination, then the other accesses,
// most requests first, up to kGpuBufferSlots.
void FillBuffers(const GpuWork& work, const GpuStatement& s, float* row) {
  const LoopNestSummary& nests = work.nests();
  const NestBlock& block = nests.blocks()[s.block];
  absl::InlinedVector<int32_t, 8> order;
  for (int a = block.accesses.count; a-- > 0;) order.push_back(block.accesses.begin + a);
  if (order.size() > 1) {
    std::sort(order.begin() + 1, order.end(), [&](int32_t a, int32_t b) {
      const double of_a = work.accesses()[a].requests, of_b = work.accesses()[b].requests;
      return of_a != of_b ? of_a > of_b : a < b;
    });
  }
  absl::InlinedVector<double, 24> running;
  uint64_t axes = 0;
  for (const int32_t loop : nests.path(block)) {
    running.push_back(static_cast<double>(nests.loops()[loop].extent));
    if (IsBlockAxis(nests.loops()[loop].kind)) axes |= LoopNestSummary::Bit(nests.loops()[loop].depth);
  }
  for (size_t slot = 0; slot < std::min<size_t>(kGpuBufferSlots, order.size()); ++slot) {
    const NestAccess& access = nests.accesses()[order[slot]];
    const GpuAccess& counts = work.accesses()[order[slot]];
    const bool shared = nests.program().buffers[access.buffer].scope.storage == Storage::kShared;
    Columns columns(row + slot * kGpuBufferColumns);
    columns.Add(access.reads);
    columns.Add(access.writes);
    columns.Add(shared);
    columns.AddLog(counts.requests);
    columns.Add(Ratio(shared ? counts.cycles : counts.sectors, counts.requests));
    columns.AddLog(counts.width);
    columns.AddLog(work.IsInMemory(access.buffer) ? BytesOf(nests, access, running) : 0);
    columns.Add(axes != 0 && (nests.Indexed(access) & axes) == axes);
  }
}

}  // namespace

void FillGpuFeatures(const GpuRoofline& roofline, FeatureSet& features) {
  const GpuWork& work = roofline.work();
  features.dim = kGpuFeatureDim;
  features.values.clear();
  double program = 0;
  std::vector<double> instructions(work.kernels().size());  // of a warp
  for (size_t k = 0; k < work.kernels().size(); ++k)
    if (!work.kernels()[k].prepared) program += roofline.kernels()[k].all;
  for (const GpuStatement& s : work.statements()) instructions[s.kernel] += Ratio(s.instructions, s.warps);
  for (const GpuStatement& s : work.statements()) {
    if (work.kernels()[s.kernel].prepared) continue;
    const size_t begin = features.values.size();
    features.values.resize(begin + kGpuFeatureDim, 0.0f);
    float* const row = features.values.data() + begin;
    Columns columns(row);
    AddStatement(roofline, s, columns);
    AddKernel(roofline, s.kernel, instructions[s.kernel], columns);
    columns.AddLog(static_cast<double>(work.kernels().size()));
    KILN_CHECK(columns.at() <= kGpuProgramCycles, "too many columns: ", columns.at());
    row[kGpuProgramCycles] = Log(program);
    FillBuffers(work, s, row + kGpuColumns);
  }
}

}  // namespace kiln
