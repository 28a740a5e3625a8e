// Finds copies that become superfluous in the memory of a model: parts of a concatenation that their producers can
// write in place, and slices that can be read in place.
//
//   for n, f: Y[f, n] = A[f, n];  for n, f: Y[f + 16, n] = B[f, n]        A and B are temporaries
//   for n: S[n] = Y[3, n]                                                 S is a slice
//
// In the memory of a model (lang/model/plan_calls.h), A can be the first bytes of Y, B the rest, and S some of them.
// Then nothing is left to copy. MarkViews marks the copies; ExtractTasks makes no tasks of them.
#pragma once

#include <optional>

#include "lang/program/program.h"

namespace kiln {

// A buffer whose elements lie in another one, in the same order and without gaps.
struct View {
  Id part = kNone, whole = kNone;
  int64_t offset = 0;  // bytes from the beginning of `whole`
  bool slice = false;  // the block copies the part from the whole, and not to it
};

// Returns the view that makes the block's copy superfluous; nullopt if the block is no copy of all of a temporary to
// consecutive elements of another, or of such elements to all of a temporary.
std::optional<View> AsView(const Program& program, Id block);

// True if MarkViews marked the block (its annotation "view").
bool IsView(const Program& program, Id block);

// Marks the blocks that write a buffer if views can replace all of them: the parts make up the buffer, each is computed
// from more than constants, and begins at a multiple of `alignment` bytes. First it prepares the program:
// - a concatenation that the file writes as one operation becomes a store for each part
// - a concatenation that contains all parts of another one, in order, reads the other one
// - three kinds of parts are copied to a temporary of their own: parameters, parts of two concatenations that do not
//   contain each other, and what a block computes in the concatenation itself. They are copied only if the other parts
//   make up at least half of the buffer.
// Also marks slices of buffers that are no parts, if the slices begin at such multiples and do not overlap. Returns the
// number of marked blocks. Safe from any thread.
int MarkViews(Program& program, int64_t alignment);

}  // namespace kiln
