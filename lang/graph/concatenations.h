// Concatenations of a model: buffers that several stores put together, each a piece that is consecutive in memory.
//
//   Y[f, n] = A[f, n];  Y[f + 16, n] = relu(B[f, n])
//
// These functions bring concatenations to a form that needs few copies; views.h then replaces copies by places in memory.
//
// Errors: none. What has no such form stays as it is. Safe from any thread.
#pragma once

#include <optional>
#include <vector>

#include "lang/program/layout.h"
#include "lang/program/program.h"

namespace kiln {

// Consecutive elements of a temporary, each once, by the iters of a block.
struct Piece {
  Id buffer = kNone;
  int64_t first = 0, elements = 1;
  IndexSum flat = {};  // the position from `first` on: digits, from the slowest
};

// Returns what the instances of the block access at this index; nullopt if it is no piece of a temporary.
std::optional<Piece> PieceOf(const Program& program, Id block, Id buffer, Range index);
// Returns the piece that the block writes; nullopt if it is no store, or writes no piece.
std::optional<Piece> WrittenPiece(const Program& program, Id block);

// A store that writes a part of a concatenation.
struct Put {
  Id block = kNone;
  Piece piece;
  Id part = kNone;  // the temporary that the store copies element by element; kNone if it is no such copy
};

// Returns the puts of a buffer that these blocks write, by position. Empty if it is no concatenation of two or more.
std::vector<Put> PutsOf(const Program& program, Id whole, const std::vector<Id>& writers);

// Returns, by buffer, the blocks that write it.
std::vector<std::vector<Id>> WritersByBuffer(const Program& program);

// Makes a store for each part of a concatenation that the file writes as one operation:
//
//   Y[f, n] = within(f < 16) ? A[f, n] : B[f - 16, n]   ->   Y[f, n] = A[f, n];  Y[f + 16, n] = B[f, n]
//
// if the parts follow each other in memory at multiples of `alignment` bytes, and copies of temporaries make up half of
// it.
void SeparateConcatenations(Program& program, int64_t alignment);

// Lets concatenations read smaller ones that they begin, end or go on with:
//
//   Y = [A, B];  Z = [A, B, C]   ->   Z = [Y, C]
//
// Then the parts of Y can lie in Z, as Y does, although A and B are parts of both.
void NestConcatenations(Program& program);

// True if SplitPut can split the store, and what it stores is not computed from constants alone.
bool CanSplit(const Program& program, const Put& put);
// Gives what the store computes a temporary of its own, which another store copies to where the first one wrote. Returns
// the temporary.
Id SplitPut(Program& program, const Put& put);

}  // namespace kiln
