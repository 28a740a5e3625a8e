#include "search/features/gpu_work.h"

#include <algorithm>
#include <cmath>

#include "lang/threads/held_registers.h"
#include "search/features/gpu_costs.h"
#include "search/features/operations.h"

namespace kiln {
namespace {

constexpr GpuCosts kCosts;
constexpr double kRegisterBytes = 4;

bool IsSerial(const NestLoop& loop) {
  return loop.extent > 1 && !IsBlockAxis(loop.kind) && !IsThreadAxis(loop.kind);
}

// Returns the product of the extents of a block's loops of which `counts` is true.
template <typename Counts>
double Product(const LoopNestSummary& nests, const NestBlock& block, Counts counts) {
  double product = 1;
  for (const int32_t loop : nests.path(block))
    if (counts(nests.loops()[loop])) product *= static_cast<double>(nests.loops()[loop].extent);
  return product;
}

// Returns the number of warps of a kernel in which a block with these extents along the axes of threads runs.
double WarpsOf(const Threads& threads, double x, double y, double z) {
  const double width = static_cast<double>(threads.x),
               all = std::ceil(static_cast<double>(threads.Count()) / double{kWarpLanes});
  if (x == width) return std::min(all, std::ceil(x * y * z / double{kWarpLanes}));
  const double rows = y * z;
  return std::min(all, width < double{kWarpLanes} ? std::ceil(width * rows / double{kWarpLanes})
                                                  : std::ceil(x / double{kWarpLanes}) * rows);
}

}  // namespace

void GpuWork::Read(const LoopNestSummary& nests, const Gpu& gpu) {
  nests_ = &nests;
  gpu_ = &gpu;
  statements_.clear();
  kernels_.clear();
  accesses_.assign(nests.accesses().size(), {});
  const Program& p = nests.program();
  for (Id nest = p.nodes[kRoot].first; nest != kNone; nest = p.nodes[nest].next) AddKernel(nest);
}

// Adds the kernel that a child of the root becomes: its thread blocks and threads, its statements, barriers and memory.
// The statements are the next blocks, since blocks are in program order.
void GpuWork::AddKernel(Id nest) {
  const Program& p = nests_->program();
  const auto is_inside = [&](const NestBlock& block) { return NestOf(p, block.node) == nest; };
  const auto begin = std::find_if(nests_->blocks().begin(), nests_->blocks().end(), is_inside);
  const auto end = std::find_if_not(begin, nests_->blocks().end(), is_inside);
  GpuKernel kernel;
  kernel.nest = nest;
  kernel.prepared = p.nodes[nest].prepare;
  double grid[3] = {1, 1, 1};
  for (auto block = begin; block != end; ++block) {
    FindThreads(*block, kernel);
    for (const int32_t loop : nests_->path(*block)) {
      const NestLoop& l = nests_->loops()[loop];
      if (!IsBlockAxis(l.kind)) continue;
      double& size = grid[static_cast<int>(l.kind) - static_cast<int>(LoopKind::kBlockX)];
      size = std::max(size, static_cast<double>(l.extent));
    }
  }
  kernel.grid = grid[0] * grid[1] * grid[2];
  const int64_t lanes = LanesOf(kernel.threads.collective);
  kernel.threads.x = (kernel.threads.x + lanes - 1) / lanes * lanes;
  kernel.statements.begin = static_cast<int32_t>(statements_.size());
  kernels_.push_back(kernel);
  for (auto block = begin; block != end; ++block)
    if (block->leaf) AddStatement(static_cast<int32_t>(block - nests_->blocks().begin()));
  kernels_.back().statements.count = static_cast<int32_t>(statements_.size()) - kernel.statements.begin;
  FindBarriers(kernels_.back());
  FindMemory(kernels_.back());
}

void GpuWork::FindThreads(const NestBlock& block, GpuKernel& kernel) {
  int64_t* const sizes[] = {&kernel.threads.x, &kernel.threads.y, &kernel.threads.z};
  for (const int32_t loop : nests_->path(block)) {
    const NestLoop& l = nests_->loops()[loop];
    if (!IsThreadAxis(l.kind)) continue;
    int64_t& size = *sizes[static_cast<int>(l.kind) - static_cast<int>(LoopKind::kThreadX)];
    size = std::max(size, l.extent);
  }
  for (const NestAccess& access : nests_->accesses(block)) {
    const Owner owner = nests_->program().buffers[access.buffer].scope.owner;
    if (owner <= Owner::kWarpgroup) kernel.threads.collective = std::max(kernel.threads.collective, owner);
  }
}

// Returns the depth from which on the loops around a block are one straight line of code: unrolled, vectorized, on axes
// of the GPU, of one iteration, or inside an intrinsic call.
int GpuWork::LineDepth(const NestBlock& block) const {
  const auto path = nests_->path(block);
  int line = block.depth - FindCallAround(nests_->program(), block.node).loops;
  const auto in_line = [&](const NestLoop& loop) {
    return !IsSerial(loop) || loop.kind == LoopKind::kUnrolled || loop.kind == LoopKind::kVectorized;
  };
  while (line > 0 && in_line(nests_->loops()[path[line - 1]])) --line;
  return line;
}

void GpuWork::AddStatement(int32_t number) {
  const NestBlock& block = nests_->blocks()[number];
  const Threads& threads = kernels_.back().threads;
  GpuStatement s;
  s.block = number;
  s.kernel = static_cast<int32_t>(kernels_.size()) - 1;
  double extents[3] = {1, 1, 1};
  for (const int32_t loop : nests_->path(block)) {
    const NestLoop& l = nests_->loops()[loop];
    const double extent = static_cast<double>(l.extent);
    if (IsBlockAxis(l.kind)) s.grid *= extent;
    if (IsThreadAxis(l.kind))
      extents[static_cast<int>(l.kind) - static_cast<int>(LoopKind::kThreadX)] *= extent;
    if (!IsBlockAxis(l.kind)) s.instances *= extent;
  }
  // Counts all threads along x for a block that accesses fragments: the lanes of a warp share its instances.
  if (threads.collective != Owner::kThread && extents[0] == 1) {
    const auto accesses = nests_->accesses(block);
    const bool spread = std::any_of(accesses.begin(), accesses.end(), [&](const NestAccess& access) {
      const Owner owner = nests_->program().buffers[access.buffer].scope.owner;
      return owner == Owner::kWarp || owner == Owner::kWarpgroup;
    });
    if (spread) extents[0] = static_cast<double>(threads.x);
  }
  s.threads = extents[0] * extents[1] * extents[2];
  s.warps = WarpsOf(threads, extents[0], extents[1], extents[2]);
  const int line = LineDepth(block);
  int depth = 0;
  for (const int32_t loop : nests_->path(block)) {
    const NestLoop& l = nests_->loops()[loop];
    // The number of iterations that are written out at a time: for the loop directly around the straight line, as it
    // may be partly unrolled; otherwise 1.
    const double together = depth + 1 == line ? static_cast<double>(UnrolledSteps(*nests_, l)) : 1;
    if (IsSerial(l)) (depth < line ? s.steps : s.line) *= std::ceil(static_cast<double>(l.extent) / together);
    s.line *= together;
    ++depth;
  }
  AddOperations(block, s);
  AddAccesses(block, s);
  AddLatency(block, s);
  statements_.push_back(s);
}

void GpuWork::AddOperations(const NestBlock& block, GpuStatement& s) {
  const Program& p = nests_->program();
  const auto accesses = nests_->accesses(block);
  const CallAround call = FindCallAround(p, block.node);
  if (call.family != nullptr && call.family->result != Storage::kGlobal) {
    const DType factor = p.buffers[accesses[0].buffer].dtype;
    const int rate = SizeOf(factor) >= 4   ? gpu_->fma_tf32
                     : SizeOf(factor) == 2 ? gpu_->fma_f16
                                           : gpu_->fma_i8;
    s.matrix_cycles = s.instances / std::max(1, rate);
    s.instructions = s.instances / static_cast<double>(call.family->m * call.family->n * call.family->k);
    return;
  }
  s.operations = CountOperations(*nests_, block);
  double simple = 0;
  for (const Column c : {kFloatAdd, kFloatMul, kFloatFma, kFloatCompare, kFloatOther, kIntAdd, kIntMul,
                         kIntCompare, kIntOther, kSelects, kCasts})
    simple += s.operations.counts[c];
  simple += 2 * s.operations.counts[kWithins] +
            kCosts.special_instructions * s.operations.counts[kFloatSpecial] +
            kCosts.divide_instructions * (s.operations.counts[kFloatDiv] + s.operations.counts[kIntDiv]);
  const double by_warps = s.instances / s.threads * s.warps;  // instances of each lane, over all warps
  const Id dest = accesses.empty() ? kNone : accesses[accesses.size() - 1].buffer;
  const bool doubles = dest != kNone && p.buffers[dest].dtype == DType::kF64;
  (doubles ? s.fma_f64 : s.fma_f32) = simple * by_warps * double{kWarpLanes};
  s.instructions = simple * by_warps + kCosts.loop_instructions * s.steps * s.warps;
}

bool GpuWork::IsInMemory(Id buffer) const {
  const Storage storage = nests_->program().buffers[buffer].scope.storage;
  return storage == Storage::kGlobal || storage == Storage::kStack;
}

// Returns how often a thread makes an access, with the repeats within one straight line in `in_line`. The lanes of a
// vector, and the iterations of the loop at depth `along`, count as one. Another loop counts only if it indexes the
// buffer, or if a serial loop inside it does that is not part of the straight line. Otherwise the element stays in a
// register.
double GpuWork::Repeats(const NestBlock& block, const NestAccess& access, int line, int along,
                        double* in_line) const {
  const uint64_t indexed = nests_->Indexed(access);
  const Buffer& buffer = nests_->program().buffers[access.buffer];
  const int home = buffer.role == Role::kTemporary ? nests_->buffers()[access.buffer].home : 0;
  const auto path = nests_->path(block);
  double repeats = 1;
  bool moved = false;
  *in_line = 1;
  for (int d = block.depth; d-- > 0;) {
    const NestLoop& loop = nests_->loops()[path[d]];
    if (!IsSerial(loop) || loop.kind == LoopKind::kVectorized) continue;
    const bool indexes = (indexed & LoopNestSummary::Bit(d)) != 0 || d < home;
    if (d < line) moved |= indexes;
    if (d == along) continue;
    if (!moved && !indexes) continue;
    repeats *= static_cast<double>(loop.extent);
    if (d >= line) *in_line *= static_cast<double>(loop.extent);
  }
  return repeats;
}

// Returns how many asynchronous copies to a buffer may be under way while threads go on: the depth of its ring in a
// pipelined loop. Returns 1 if no asynchronous copy fills the buffer.
double GpuWork::CopiesBehind(Id buffer) const {
  for (const NestLoop& loop : nests_->loops()) {
    if (loop.kind != LoopKind::kPipelined) continue;
    for (const Ring& ring : nests_->program().Rings(nests_->program().loop(loop.node)))
      if (ring.buffer == buffer && ring.transport != Transport::kSync) return std::max(1, ring.depth);
  }
  return 1;
}

void GpuWork::AddAccesses(const NestBlock& block, GpuStatement& s) {
  const Program& p = nests_->program();
  const int line = LineDepth(block);
  const bool call = FindCallAround(p, block.node).family != nullptr;
  for (int32_t a = block.accesses.begin; a < block.accesses.begin + block.accesses.count; ++a) {
    const NestAccess& access = nests_->accesses()[a];
    const Buffer& buffer = p.buffers[access.buffer];
    if (buffer.scope.storage != Storage::kShared && !IsInMemory(access.buffer)) continue;
    double in_line = 1;
    const WarpRequest request = RequestOf(*nests_, block, access, kernels_.back().threads);
    const double repeats =
        Repeats(block, access, line, request.along, &in_line) * (access.reads && access.writes ? 2 : 1);
    const double share = call ? 1 / double{kWarpLanes} : 1;  // the lanes of a call share its elements
    const double pieces = static_cast<double>(request.pieces), width = static_cast<double>(request.width);
    const double requests = repeats * pieces * s.warps * share;
    const double of_line = request.along < line ? 1 : pieces;
    if (access.reads) s.line_registers += in_line * of_line * share * std::ceil(width / kRegisterBytes);
    s.instructions += requests;
    GpuAccess& counts = accesses_[a];
    counts.requests = requests;
    counts.width = width;
    if (buffer.scope.storage == Storage::kShared) {
      s.shared_requests += requests;
      counts.cycles = requests * request.BankCycles();
      s.shared_cycles += counts.cycles;
      continue;
    }
    counts.sectors = requests * request.Sectors();
    s.global_requests += requests;
    s.global_sectors += counts.sectors;
    s.least_sectors +=
        std::min(counts.sectors, requests * std::ceil(request.lanes * width / double{kSectorBytes}));
  }
  s.line_registers = std::min(s.line_registers, kCosts.most_line_registers);
}

void GpuWork::AddLatency(const NestBlock& block, GpuStatement& s) {
  const Program& p = nests_->program();
  const int line = LineDepth(block);
  double waits[2] = {0, 0};  // steps that wait for memory, and for shared memory
  double behind = 1;         // copies that are under way at a time
  for (int32_t a = block.accesses.begin; a < block.accesses.begin + block.accesses.count; ++a) {
    const NestAccess& access = nests_->accesses()[a];
    // Counts the copies under way only if a lane writes at least 4 bytes: smaller copies are not asynchronous, but go
    // through registers.
    if (access.writes && accesses_[a].width >= kRegisterBytes)
      behind = std::max(behind, CopiesBehind(access.buffer));
    const bool shared = p.buffers[access.buffer].scope.storage == Storage::kShared;
    if (!access.reads || (!shared && !IsInMemory(access.buffer))) continue;
    double in_line = 1;
    double& steps = waits[shared ? 1 : 0];
    const double repeats = Repeats(block, access, line, -1, &in_line);
    steps = std::max(steps, std::min(s.steps, repeats / in_line));
  }
  // Computes how many terms are added one after the other to one element in a straight line: each addition waits for
  // the one before.
  double chain = 1;
  if (block.reduction != 0 && block.accesses.count > 0) {
    const NestAccess& dest = nests_->accesses()[block.accesses.begin + block.accesses.count - 1];
    const uint64_t indexed = nests_->Indexed(dest);
    for (int d = std::max(0, line - 1); d < block.depth; ++d) {
      const NestLoop& loop = nests_->loops()[nests_->path(block)[d]];
      if (IsSerial(loop) && (indexed & LoopNestSummary::Bit(d)) == 0)
        chain *= static_cast<double>(d < line ? UnrolledSteps(*nests_, loop) : loop.extent);
    }
  }
  const double issue = s.warps > 0 ? s.instructions / s.warps : 0;
  s.alone = std::max(issue, s.steps * chain * kCosts.fma_latency) +
            waits[1] / kCosts.loads_ahead * kCosts.shared_latency;
  s.waits = waits[0] / kCosts.loads_ahead / behind;
}

// Estimates the barriers that a thread passes. In each iteration of the serial loops around the thread loops, blocks
// that write shared memory count together if the innermost loop around their thread loops is the same: one barrier, or
// two if there are several iterations and a written buffer has a single copy. A reduction over threads counts two.
void GpuWork::FindBarriers(GpuKernel& kernel) {
  const Program& p = nests_->program();
  absl::InlinedVector<std::pair<int32_t, double>, 8>
      parents;  // the loop around parts, and the barriers between them
  for (int32_t n = kernel.statements.begin; n < kernel.statements.begin + kernel.statements.count; ++n) {
    const NestBlock& block = nests_->blocks()[statements_[n].block];
    int32_t parent = -1;
    double steps = 1;
    bool outside = true, combines = false;  // of the axes of threads
    for (int d = 0; d < block.depth; ++d) {
      const int32_t position = nests_->path(block)[d];
      const NestLoop& loop = nests_->loops()[position];
      const bool axis = loop.extent > 1 && IsThreadAxis(loop.kind);
      outside &= !axis;
      combines |= axis && (block.reduction & LoopNestSummary::Bit(d)) != 0;
      if (!outside) continue;
      parent = position;
      if (IsSerial(loop)) steps *= static_cast<double>(loop.extent);
    }
    if (combines) statements_[n].combines = steps;
    kernel.barriers += 2 * statements_[n].combines;
    for (const NestAccess& access : nests_->accesses(block)) {
      if (!access.writes || p.buffers[access.buffer].scope.storage != Storage::kShared) continue;
      const bool again = steps > 1 && CopiesOf(*nests_, access.buffer) < 2;
      const double barriers = again ? 2 * steps : steps;
      const auto there =
          std::find_if(parents.begin(), parents.end(), [&](auto& at) { return at.first == parent; });
      if (there == parents.end()) {
        parents.emplace_back(parent, barriers);
      } else {
        there->second = std::max(there->second, barriers);
      }
    }
  }
  for (const auto& [loop, barriers] : parents) kernel.barriers += barriers;
}

// Sets a kernel's bytes of shared memory, the largest depth of its rings, and a guess of its registers per thread.
void GpuWork::FindMemory(GpuKernel& kernel) {
  const Program& p = nests_->program();
  absl::InlinedVector<Id, 8> seen;
  double line = 0;
  for (int32_t n = kernel.statements.begin; n < kernel.statements.begin + kernel.statements.count; ++n) {
    const GpuStatement& s = statements_[n];
    line = std::max(line, s.line_registers);
    if (s.combines > 0) kernel.shared_bytes += kCosts.exchange_bytes * s.warps;
    for (const NestAccess& access : nests_->accesses(nests_->blocks()[s.block])) {
      if (std::find(seen.begin(), seen.end(), access.buffer) != seen.end()) continue;
      seen.push_back(access.buffer);
      const Buffer& buffer = p.buffers[access.buffer];
      const double bytes =
          static_cast<double>(nests_->buffers()[access.buffer].elements * SizeOf(buffer.dtype));
      const double copies = static_cast<double>(CopiesOf(*nests_, access.buffer));
      kernel.ring_depth = std::max(kernel.ring_depth, copies);
      if (IsInMemory(access.buffer)) kernel.registers += kCosts.address_registers;
      if (buffer.scope.storage == Storage::kShared)
        kernel.shared_bytes += copies * std::ceil(bytes / 16) * 16;
    }
  }
  kernel.accumulators = static_cast<double>(HeldRegisters(*nests_, kernel.nest));
  kernel.registers += kCosts.base_registers + kernel.accumulators + line;
}

}  // namespace kiln
