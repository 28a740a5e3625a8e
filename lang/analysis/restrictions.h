// What programs for accelerators must keep, beside what holds of all: the rules that lang/program/program.h gives for
// prepared nests, pipelined loops, and owners of buffers.
//
// Prepared nests and pipelines restrict every later step: Verify asks here, and a step on a program that has
// one of these, or that makes one, is taken back if it breaks a rule (lang/schedule/primitive.h). Owners are for the
// end, as registers are: a buffer is moved to shared memory, its copy placed, and its loops bound one by one.
// lang/analysis/lowerable.h asks then; set-scope, cooperative-fetch and bind-rest ask at once.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "lang/program/program.h"

namespace kiln {

// Has prepared nests or pipelined loops.
bool Restricted(const Program& program);

// CheckPrepared, and CheckPipeline of each pipelined loop. These and CheckOwners: kFailedPrecondition with
// the rule that is broken, by which node or buffer.
absl::Status CheckRestrictions(const Program& program);

// Prepared nests stand first, read constants and what they write themselves, and write temporaries in global
// memory that nothing else writes.
absl::Status CheckPrepared(const Program& program);
// In programs with axes: a buffer that belongs to a thread, warp, warpgroup or block is used in one kernel,
// and each of its elements by one of its owners only: all uses are below the same loop of an axis, or their
// indices tell which iteration of the axis they are in, in the same way. No two iterations of an axis make
// one element anew, in several steps, in a buffer that they share.
absl::Status CheckOwners(const Program& program);
absl::Status CheckOwner(const Program& program, Id buffer);  // of one buffer
// A pipelined loop has a stage for each child and a ring for each buffer that is carried from child to child.
// Such a buffer is a temporary, used below the loop only, written by one block, anew in each iteration, and
// read by later children, in the same or a later stage, where that block wrote it; its ring has a copy for
// each stage between, and one. What is asynchronous is copied; bulk copies are boxes.
absl::Status CheckPipeline(const Program& program, Id loop);

// A buffer that one child of a loop writes and others read: positions among the children.
struct CarriedBuffer {
  Id buffer = kNone;
  int writer = 0;
  std::vector<int> readers;
};
// In the order in which the children first write them.
std::vector<CarriedBuffer> CarriedBuffers(const Program& program, Id loop);

// The axes of machines. A loop of one iteration is on none.
bool IsBlockAxis(LoopKind kind);
bool IsThreadAxis(LoopKind kind);
bool OnAxis(const Program& program, Id loop);
bool HasAxes(const Program& program);
// True if each iteration of a loop on an axis has the buffer for itself, by its owner.
bool IsPrivateTo(const Program& program, Id buffer, Id loop);
// The child of the root above a node (or the node itself), and whether it is a kernel.
Id NestOf(const Program& program, Id node);
bool IsKernel(const Program& program, Id nest);

}  // namespace kiln
