// The work of a program on a GPU, counted from its loop nests: what each statement (a block without blocks
// inside) costs a thread block, and what each kernel (a child of the root) uses.
//
//   GpuWork work;              // one per thread: it keeps its memory
//   work.Read(nests, gpu);     // refers to `nests` until the next Read
//   for (const GpuStatement& statement : work.statements()) ...
//
// Counts ignore guards: an instance that a guard refuses counts as run. Loads that do not depend on the loops
// inside are loaded once, before these loops. search/features/gpu_roofline.h turns the work into cycles.
#pragma once

#include <vector>

#include "lang/analysis/loop_nest_summary.h"
#include "lang/target/gpu.h"
#include "search/features/gpu_access.h"
#include "search/features/operations.h"

namespace kiln {

// The requests of a thread block by one access. All numbers are 0 if the buffer is in registers.
struct GpuAccess {
  double requests = 0;  // of warps
  double sectors = 0;   // of 32 bytes, by all requests to memory outside of the SM
  double cycles = 0;    // of all requests to shared memory
  double width = 0;     // bytes of a lane in a request
};

// The work of a statement. Counts are those of one thread block unless a comment says otherwise.
struct GpuStatement {
  int32_t block = 0, kernel = 0;  // positions in LoopNestSummary::blocks() and kernels()
  double grid = 1;                // thread blocks that run it
  double threads = 1, warps = 1;  // that run it
  double instances = 1;
  double steps = 1;  // straight lines that a thread runs one after the other
  double line = 1;   // instances in a straight line: unrolled loops and vectors

  Operations operations;  // of an instance
  // Operations of all lanes of the warps that run, idle lanes included.
  double fma_f64 = 0, fma_f32 = 0;  // on scalar units; other floating point operations count as one
  double matrix_cycles = 0;         // of the SM's matrix units
  double instructions = 0;          // that warps issue, requests to memory included

  double global_requests = 0, global_sectors = 0, least_sectors = 0;  // least: if lanes were neighbours
  double shared_requests = 0, shared_cycles = 0;
  double alone = 0;           // cycles that a warp takes if it is alone and never waits for memory
  double waits = 0;           // steps in which a warp waits for memory
  double combines = 0;        // reductions over threads
  double line_registers = 0;  // of a thread, for what the line loads and its sums
};

struct GpuKernel {
  Id nest = kNone;
  bool prepared = false;
  Range statements;
  double grid = 1;  // thread blocks
  Threads threads;
  double shared_bytes = 0;  // with all copies of rings
  double registers = 0;     // of a thread, guessed
  double accumulators = 0;  // of these, those of buffers
  double barriers = 0;      // that a thread passes, guessed
  double ring_depth = 1;    // the largest
};

class GpuWork {
 public:
  // Counts the work of the program that `nests` has read.
  void Read(const LoopNestSummary& nests, const Gpu& gpu);

  const std::vector<GpuStatement>& statements() const { return statements_; }
  const std::vector<GpuKernel>& kernels() const { return kernels_; }

  const LoopNestSummary& nests() const { return *nests_; }
  // Returns the requests of each access, indexed by its position in LoopNestSummary::accesses().
  const std::vector<GpuAccess>& accesses() const { return accesses_; }
  // Returns true for memory outside of the SM: buffers in global memory and on the stack.
  bool IsInMemory(Id buffer) const;

 private:
  void AddKernel(Id nest);
  void FindThreads(const NestBlock& block, GpuKernel& kernel);
  void AddStatement(int32_t block);
  void AddOperations(const NestBlock& block, GpuStatement& statement);
  void AddAccesses(const NestBlock& block, GpuStatement& statement);
  void AddLatency(const NestBlock& block, GpuStatement& statement);
  void FindBarriers(GpuKernel& kernel);
  void FindMemory(GpuKernel& kernel);
  int LineDepth(const NestBlock& block) const;
  double Repeats(const NestBlock& block, const NestAccess& access, int line, int along,
                 double* in_line) const;
  double CopiesBehind(Id buffer) const;

  const LoopNestSummary* nests_ = nullptr;
  const Gpu* gpu_ = nullptr;
  std::vector<GpuStatement> statements_;
  std::vector<GpuKernel> kernels_;
  std::vector<GpuAccess> accesses_;
};

}  // namespace kiln
