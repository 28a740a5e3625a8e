// The cost of computing a block again, and the gain of tiling it. For modules.
#pragma once

#include <set>

#include "lang/program/program.h"

namespace kiln {

// No function more costly than a division in its body, no padding to test, and no other order than that of
// its iters: readers of what joins dimensions would divide, and those of what is read in steps would step.
bool IsCheap(const Program& program, Id block);

// One block reads what it writes, at indices that are multiples of distinct iters of its own:
// each element once.
bool IsReadOnce(const Program& program, Id block);

// Every read's indices name the iters in the order in which the destination's do,
// so that inlining permutes no access.
bool KeepsOrder(const Program& program, Id block);

// The operations of its body.
std::set<Op> OpsOf(const Program& program, Id block);

// A reduction in which some read does not depend on some spatial iter: tiles reuse what they load.
bool HasReuse(const Program& program, Id block);

// Machine instructions that an instance of a block becomes, for each register that its lanes fill: a
// multiply-add is one, a function is as long as its polynomial or its calls, and a copy is one. Loads are not
// counted: instances share them. `exprs`: what it evaluates, each once.
int64_t Instructions(const Program& program, Id block);
int64_t Instructions(const Program& program, Id block, absl::Span<const Id> exprs);

// Instances of a block times what each does; for rates.
double Flops(const Program& program, Id block);
double Flops(const Program& program);

}  // namespace kiln
