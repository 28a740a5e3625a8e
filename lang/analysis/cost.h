// Estimates how many instructions a block takes, whether it is cheap to inline, and whether tiling it gains. Modules
// use it.
#pragma once

#include <set>

#include "lang/program/program.h"
#include "lang/target/cost_table.h"

namespace kiln {

// True if the block is cheap to inline: its body tests no padding and has no function that costs more than a division.
// No index of its results has several terms, and no read has a stride along an iter. Otherwise readers would divide
// indices or access memory with strides.
bool IsCheap(const Program& program, Id block);

// True if exactly one block reads the block's result, with one load, and each iter of the reader indexes a dimension
// alone, so that it reads each element once at most.
bool IsReadOnce(const Program& program, Id block);

// True if the indices of every read of the block name its iters in the same order as the indices of its first result,
// so that inlining the block permutes no access.
bool KeepsOrder(const Program& program, Id block);

// Returns the set of operations (add, exp, ...) in the block's body.
std::set<Op> OpsOf(const Program& program, Id block);

// True for a reduction with one result in which some read does not depend on some spatial iter, so that tiles reuse
// loaded data.
bool HasReuse(const Program& program, Id block);

// Return the number of machine instructions for one vector register of instances of a block. A multiply-add or a copy
// counts as one, and a function as its polynomial or its calls. Loads are not counted, because instances share them.
// `exprs`: the expressions that the block evaluates, each once.
int64_t Instructions(const Program& program, Id block, const CostTable& costs);
int64_t Instructions(const Program& program, Id block, absl::Span<const Id> exprs, const CostTable& costs);

// Return the number of operations of a block, which is that of one instance times the number of instances, or their sum
// over the program. For rates such as GFLOP/s.
double Flops(const Program& program, Id block);
double Flops(const Program& program);

}  // namespace kiln
