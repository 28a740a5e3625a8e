// Checks rules for accelerators: prepared nests, pipelined loops and the owners of buffers must be as
// lang/program/program.h says.
//
// Rules of prepared nests and pipelines hold after every step. Verify checks them, and the schedule undoes a step that
// breaks one (lang/schedule/primitive.h). Rules of owners hold at the end only, because several steps move a buffer to
// shared memory, place its copy and bind its loops. lang/analysis/lowerable.h checks owners then; the primitives
// set-scope, cooperative-fetch and bind-rest check them at once.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "lang/program/program.h"

namespace kiln {

// True if the program has prepared nests or pipelined loops.
bool Restricted(const Program& program);

// Runs CheckPrepared, and CheckPipeline for each pipelined loop. These checks and CheckOwners return
// kFailedPrecondition with the broken rule and the node or buffer that breaks it.
absl::Status CheckRestrictions(const Program& program);

// OK if the prepared nests, which run once per set of constants, read only constants and what prepared nests write, and
// write only temporaries that no other nests write. Temporaries that other nests read must be in global memory.
// Prepared nests must come first.
absl::Status CheckPrepared(const Program& program);
// OK if every buffer with another owner than the grid is used in one kernel, and each of its elements by one owner. In
// a program with axes, every child of the root is a kernel. All uses of such a buffer must be below the same axis loop,
// or their indices must determine the iteration of the axis in the same way. Iterations of an axis must not write the
// same element of a buffer that they share, except in a store that is its only writer, or in two stores that come from
// one block of the original program. Threads of a reduction must combine into one element. Programs without axes are
// OK. Otherwise kFailedPrecondition.
absl::Status CheckOwners(const Program& program);
absl::Status CheckOwner(const Program& program, Id buffer);  // checks one buffer
// OK if the program after a step passes CheckOwners, or if the program before the step fails it.
absl::Status CheckKeepsOwners(const Program& before, const Program& after);
// OK if the pipelined loop has a stage (0 .. 64) and an order of its own for each child, a ring for each buffer that
// one child writes for another, and no other rings. Such a buffer must be a temporary that only this loop uses. One
// block writes it anew in each iteration. Children that come later in the program read what that block wrote, in a
// later stage, or in the same stage and a later order. Its ring has at least one copy more than the stages by which the
// last reader lags behind the writer, and at most 65. An asynchronous child must be a copy, and a bulk copy must be a
// box; elements beyond bounds may be zeros. No two children write one buffer. A producer writes rings only. A producer
// or bulk copy reads nothing that its nest writes, except rings of such children.
absl::Status CheckPipeline(const Program& program, Id loop);

// A buffer that one child of a loop writes and other children read. Numbers are positions among the children.
struct CarriedBuffer {
  Id buffer = kNone;
  int writer = 0;
  std::vector<int> readers;
};
// Returns the carried buffers of a loop, in the order in which the children first write them.
std::vector<CarriedBuffer> CarriedBuffers(const Program& program, Id loop);

// The axes of a GPU. IsBlockAxis is true for the loop kinds block-x, -y and -z, IsThreadAxis for thread-x, -y and -z.
// OnAxis is true for a loop of such a kind that has several iterations, HasAxes for a program with such a loop.
bool IsBlockAxis(LoopKind kind);
bool IsThreadAxis(LoopKind kind);
bool OnAxis(const Program& program, Id loop);
bool HasAxes(const Program& program);
// True if each iteration of this axis loop has its own copy of the buffer, as the buffer's owner implies: a thread's
// buffer on every axis, a warp's or warpgroup's on all but thread-x, a block's on block axes only.
bool IsPrivateTo(const Program& program, Id buffer, Id loop);

// The number of threads of a kernel along each axis: the greatest extent of its loops on that axis, 1 if there is none.
// The kernel is the child `nest` of the root. If it uses a fragment, it consists of warps or warpgroups: thread-x
// counts the lanes of one (rounded up to a multiple of 32 or 128), even if no loop is on thread-x, and thread-y and
// thread-z count the warps or warpgroups. A thread's number is x + threads.x * (y + threads.y * z).
struct Threads {
  int64_t x = 1, y = 1, z = 1;
  Owner collective = Owner::kThread;  // kWarp or kWarpgroup if the kernel consists of these
  int64_t Count() const { return x * y * z; }
};
Threads ThreadsOf(const Program& program, Id nest);
// Returns the number of threads of a thread, warp or warpgroup: 1, 32 or 128.
int64_t LanesOf(Owner owner);
// Returns who runs an instance of the block: a thread, or the lanes of the warp or warpgroup that owns a fragment which
// the block uses. Below a loop on thread-x, a thread runs it.
Owner RunnerOf(const Program& program, Id block);
// True if proven: every element of the buffer that both blocks `a` and `b` use is used by one `owner`: one thread, or
// the threads of one warp, warpgroup or block. Assumes that the node `fixed` and the loops around it are in the same
// iteration in both blocks. Other loops may be in different iterations.
bool StaysWith(const Program& program, Id buffer, Id a, Id b, Owner owner, Id fixed);
// NestOf returns the ancestor of a node that is a child of the root (or the node itself). IsKernel is true if some loop
// of the nest, a child of the root, is on a block or thread axis and has several iterations.
Id NestOf(const Program& program, Id node);
bool IsKernel(const Program& program, Id nest);

}  // namespace kiln
