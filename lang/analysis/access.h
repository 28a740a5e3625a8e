// How a block accesses its buffers: the indices, and the loops that each index depends on. Modules read
// programs through this header and axes.h, never through the pools of a Program.
//
//   for i, j, k: C[i, j] += A[i, k] * B[k, j]
//     ResultIndices: i, j      ReadIndices: (i, k), (k, j)      AccessOf A: loops {0}, {2}, steps 0, 2
//
// Reads at computed indices (gathers) are left out. The block must be live. There are no errors.
#pragma once

#include <set>
#include <vector>

#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// The indices of one access, one per dimension, over the iters of the block.
using Indices = std::vector<IndexSum>;

// ResultIndices returns the indices of the block's first result, ReadIndices those of each of its loads, in order of
// first use.
Indices ResultIndices(const Program& program, Id block);
std::vector<Indices> ReadIndices(const Program& program, Id block);

// Returns the live loops that an index over the iters of a block depends on.
std::vector<Id> LoopsAlong(const Bindings& bindings, const IndexSum& index);

// True if every index of every read is a constant or an iter; with `offsets`, also an iter plus a constant.
bool ReadsAtIters(const Program& program, Id block, bool offsets);

// Returns the load that a block copies if it does nothing else: its value is the load, or the load within bounds and
// zero elsewhere. Otherwise returns kNone.
Id CopiedLoad(const Program& program, Id block);

// How a block reads one operand: the loops that its indices depend on. A loop is given by its position in
// LoopsAround(block).
struct AccessPattern {
  std::vector<std::set<int>> loops;  // by dimension: the loops that its index depends on
  std::vector<int> steps;  // by dimension: the loop whose next iteration adds 1 to the index; -1: none
  bool DependsOn(int loop) const;
};
// Returns how the block reads `buffer`. In an index such as g * 16 + c (groups and channels), `steps` names the loop of
// c if `groups` is true, and no loop (-1) otherwise.
AccessPattern AccessOf(const Program& program, Id block, Id buffer, bool groups = true);

// True if some spatial loop occurs in no index of this operand, so that each of its iterations reads the whole operand
// again: both operands of a matrix product, the weights of a depthwise convolution. False if only windows overlap, as
// in the input of a depthwise convolution.
bool IsReusedWhole(const Program& program, Id block, const AccessPattern& access);

// Returns the position in LoopsAround(block) of the last reduction loop that shares an index with a spatial loop, as
// the window of a convolution does; -1 if there is none.
int LastWindow(const Program& program, Id block);

}  // namespace kiln
