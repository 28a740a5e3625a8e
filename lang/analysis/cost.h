// Estimates how many instructions a block takes, whether it is cheap to inline, and whether tiling it gains. Modules
// use it.
#pragma once

#include <set>

#include "lang/program/program.h"
#include "lang/target/cost_table.h"

namespace kiln {

// True if the block is cheap to inline: its body tests no padding and has no function such as exp or pow (divisions and
// square roots are cheap). No index of its results has several terms, and no index of a load is a single term with a
// factor above 1 (plus any constant). Otherwise readers would divide indices or access memory with strides.
bool IsCheap(const Program& program, Id block);

// True if the block writes one buffer, exactly one block reads it, with one load, and each iter of the reader with
// several values is the only term of some dimension's index, so that each element is read once at most.
bool IsReadOnce(const Program& program, Id block);

// True if the indices of every load of the block name its iters in the same order as the indices of its first result,
// so that inlining the block permutes no access. Ignores iters with one value. An iter that is no index of the result,
// alone or plus a constant, may only come before the others.
bool KeepsOrder(const Program& program, Id block);

// Returns the set of operations (add, exp, ...) in the block's body.
std::set<Op> OpsOf(const Program& program, Id block);

// True for a reduction with one result in which some load does not depend on some spatial iter that has several values,
// so that tiles reuse loaded data.
bool HasReuse(const Program& program, Id block);

// Return the number of machine instructions for one vector register of instances of a block. An operation counts as
// one, but functions such as exp and sin, float maxima and minima, padding (kWithin) and gathers count as `costs` says.
// A reduction adds one per result, but the multiplication and the addition of a sum of products count as one together.
// Loads are not counted, because instances share them, nor are constants and indices. The result is at least 1, as for
// a copy. `exprs`: the expressions that the block evaluates, each once.
int64_t Instructions(const Program& program, Id block, const CostTable& costs);
int64_t Instructions(const Program& program, Id block, absl::Span<const Id> exprs, const CostTable& costs);

// Return the number of operations of a block, or the sum over the blocks of the program, for rates such as GFLOP/s. An
// instance counts one for each operation from Op::kAdd on (arithmetic and functions, but no casts, comparisons and
// selects), and one more for the combination of a reduction. That is multiplied by the number of instances.
double Flops(const Program& program, Id block);
double Flops(const Program& program);

}  // namespace kiln
