// Lists the GPU kernels of a loop plan: the numbers of their blocks and threads, and the memory that they use.
//
//   const std::vector<Kernel> kernels = *Kernels(program, plan);
//   const LaunchList launches = LaunchesOf(program, plan.indices, kernels);
//
// Each child of an entry is a kernel. It takes a pointer for each parameter, and each buffer in the workspace, that it
// uses, in the order of their ids. Errors: kFailedPrecondition if a kernel needs what lowering to GPUs does not have,
// has more than 1024 threads a block or 2^31 - 1 blocks, or uses memory that ends with another one.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/lower/plan/loop_plan.h"
#include "backends/runner/launch.h"
#include "lang/program/program.h"

namespace kiln {

// A number for each axis, in the order thread-x, thread-y, thread-z, block-x, block-y, block-z.
using AxisNumbers = std::array<int64_t, 6>;
size_t AxisOf(LoopKind axis);  // its position in that order

struct Kernel {
  std::string name;
  const plan::Node* node = nullptr;  // of the plan
  bool prepare = false;
  AxisNumbers sizes = {1, 1, 1, 1, 1, 1};
  std::vector<Id> reads = {}, writes = {};  // buffers
  std::vector<Id> arguments = {};           // the buffers that are arguments
  int64_t shared_bytes = 0;                 // of buffers
  // Threads exchange values of reductions in `exchange_bytes` of shared memory, which begin at `shared_bytes` rounded
  // up to a multiple of 16.
  int64_t exchange_bytes = 0;

  bool Reads(Id buffer) const;
  bool Writes(Id buffer) const;
  int64_t threads() const { return sizes[0] * sizes[1] * sizes[2]; }
  int64_t blocks() const { return sizes[3] * sizes[4] * sizes[5]; }
  int64_t exchange_offset() const { return (shared_bytes + 15) / 16 * 16; }
};

// Returns the GPU kernels of the plan, one for each child of an entry, in the plan's order. Kernel n of an entry,
// counted from 0, is named ENTRY_n. The plan must live as long as the kernels. kFailedPrecondition if lowering to GPUs
// cannot do what a kernel needs, if a kernel is too large, or if two kernels use one buffer that is not in global
// memory.
absl::StatusOr<std::vector<Kernel>> Kernels(const Program& program, const plan::LoopPlan& plan);

// Returns the parameters of the entry points: those of the program, then the buffers that the prepare phase writes and
// the main phase uses, in the order of their ids.
std::vector<Id> ParametersOf(const Program& program, const IndexPlan& plan);
LaunchList LaunchesOf(const Program& program, const IndexPlan& plan, const std::vector<Kernel>& kernels);

// Returns the thread axes over which a leaf across threads combines values: those of its block's reduction loops with
// more than one iteration. They are positions in AxisNumbers, ascending.
std::vector<size_t> AxesAcross(const Program& program, const IndexPlan& plan, const plan::Leaf& leaf);
// Returns how many adjacent threads of a warp combine their values by shuffles in a reduction over these axes. If the
// first axis is thread-x: 32 if its size is a multiple of 32, its size if that is a smaller power of two. Otherwise 1,
// which means no shuffles.
int64_t LanesAcross(const Kernel& kernel, const std::vector<size_t>& axes);

}  // namespace kiln
