// Finds and rewrites concatenations of a model: buffers that several stores put together, each writing elements that
// are consecutive in memory.
//
//   Y[f, n] = A[f, n];  Y[f + 16, n] = relu(B[f, n])
//
// These functions bring concatenations to a form that needs few copies. views.h then lets the parts lie in the memory
// of the whole, which makes the copies superfluous.
//
// Errors: none. A concatenation without such a form stays as it is. Safe from any thread.
#pragma once

#include <optional>
#include <vector>

#include "lang/program/layout.h"
#include "lang/program/program.h"

namespace kiln {

// Consecutive elements of a temporary that a block accesses, each in one instance: the instance accesses the element
// first + flat.
struct Piece {
  Id buffer = kNone;
  int64_t first = 0, elements = 1;
  IndexSum flat = {};  // the position from `first` on: digits, from the slowest
};

// Returns the consecutive elements of `buffer` that the block's instances access at this index. Returns nullopt if some
// element is accessed twice or the elements have gaps, or if the buffer is no row-major temporary.
std::optional<Piece> PieceOf(const Program& program, Id block, Id buffer, Range index);
// Returns the consecutive elements of a temporary that the block writes. Returns nullopt if the block is no store with
// one result, or its elements are not consecutive.
std::optional<Piece> WrittenPiece(const Program& program, Id block);

// A store that writes a part of a concatenation.
struct Put {
  Id block = kNone;
  Piece piece;
  Id part = kNone;  // the temporary that the store copies element by element; kNone if it is no such copy
};

// Returns the stores that put the buffer `whole` together, by position. `writers` are all blocks that write it. Returns
// an empty list unless these are two or more stores of consecutive elements that make up the whole buffer.
std::vector<Put> PutsOf(const Program& program, Id whole, const std::vector<Id>& writers);

// Returns, by buffer, the blocks that write it.
std::vector<std::vector<Id>> WritersByBuffer(const Program& program);

// Replaces a concatenation that the file writes as one operation by a store for each part:
//
//   Y[f, n] = within(f < 16) ? A[f, n] : B[f - 16, n]   ->   Y[f, n] = A[f, n];  Y[f + 16, n] = B[f, n]
//
// Does so if each part is consecutive in the memory of Y and begins at a multiple of `alignment` bytes, and if at least
// half of Y consists of parts that copy whole temporaries, which are not computed from constants alone.
void SeparateConcatenations(Program& program, int64_t alignment);

// Lets a concatenation copy another one that it contains, in place of that one's parts:
//
//   Y = [A, B];  Z = [A, B, C]   ->   Z = [Y, C]
//
// Then the parts of Y can lie in Z, as Y does, although A and B are parts of both. Both concatenations must consist of
// copies alone, and their shapes may differ only in the dimension along which the parts follow each other. If Z
// contains several others, it copies the one with the most parts.
void NestConcatenations(Program& program);

// True if SplitPut can let the store write a temporary of its own, and the stored values are not computed from
// constants alone. False for a store of one element, and in the program's last nest.
bool CanSplit(const Program& program, const Put& put);
// Lets the store write to a new temporary, and adds another store that copies the temporary to where the first one
// wrote. Returns the temporary.
Id SplitPut(Program& program, const Put& put);

}  // namespace kiln
