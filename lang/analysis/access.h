// How a block accesses its buffers: the indices, and the loops that each index depends on. Modules read indices through
// this header and axes.h instead of the marks and expressions of a Program.
//
//   for i, j, k: C[i, j] += A[i, k] * B[k, j]
//     ResultIndices: i, j      ReadIndices: (i, k), (k, j)      AccessOf A: loops {0}, {2}, steps 0, 2
//
// Reads at computed indices (gathers) are left out. The block must be live. There are no errors.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "lang/analysis/bindings.h"
#include "lang/program/program.h"

namespace kiln {

// The indices of one access, one per dimension, over the iters of the block.
using Indices = std::vector<IndexSum>;

// ResultIndices returns the indices of the block's first result. ReadIndices returns those of each distinct load in its
// values and initial values, in order of first use.
Indices ResultIndices(const Program& program, Id block);
std::vector<Indices> ReadIndices(const Program& program, Id block);

// Returns by how much each index of each load in ReadIndices changes from one iteration of a live loop to the next;
// nullopt if that is not the same everywhere.
std::vector<std::vector<std::optional<int64_t>>> ReadSteps(const Program& program, Id block, Id loop);

// Returns the live loops that the bindings of an index's iters name, in the order of the index's terms, repeated if
// several terms depend on a loop. Leaves out loops inside a mark that the index algebra could not divide.
std::vector<Id> LoopsAlong(const Bindings& bindings, const IndexSum& index);

// True if every index of every load is a constant or an iter; with `offsets`, also an iter plus a constant. Ignores
// gathers.
bool ReadsAtIters(const Program& program, Id block, bool offsets);

// Returns the load (kLoad) that a block stores unchanged. The block may also store the load where the conditions of a
// kWithin hold, and zero (+0.0 for floats) elsewhere. Returns kNone for other values, for reductions, and for blocks
// with several results.
Id CopiedLoad(const Program& program, Id block);

// How a block reads one operand: the loops that its indices depend on. A loop is given by its position in
// LoopsAround(block).
struct AccessPattern {
  std::vector<std::set<int>> loops;  // by dimension: the loops that its index depends on
  // By dimension: the loop whose next iteration adds 1 to the index; -1: none; -2: no load.
  std::vector<int> steps;
  bool DependsOn(int loop) const;
};
// Returns how the block reads `buffer`. In an index such as g * 16 + c (groups and channels), `steps` names the loop of
// c if `groups` is true, and no loop (-1) otherwise. Where loads of the buffer have different steps, the step is -1. If
// the block has no load of the buffer, all steps are -2.
AccessPattern AccessOf(const Program& program, Id block, Id buffer, bool groups = true);

// True if some spatial loop with several iterations occurs in no index of this operand, so that each of its iterations
// reads the operand again: both operands of a matrix product, the weights of a depthwise convolution. False if only
// windows overlap, as in the input of a depthwise convolution.
bool IsReusedWhole(const Program& program, Id block, const AccessPattern& access);

// Returns the position in LoopsAround(block) of the innermost loop that feeds a reduction iter, has several iterations,
// and occurs in one index of a load together with a loop that feeds none, as the window of a convolution does. Returns
// -1 if there is none.
int LastWindow(const Program& program, Id block);

}  // namespace kiln
