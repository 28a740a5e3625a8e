// Finds which blocks produce and consume which buffers, and the order of blocks.
#pragma once

#include <vector>

#include "lang/program/program.h"

namespace kiln {

// Returns the live blocks in program order; an enclosing block comes before the blocks within.
std::vector<Id> Blocks(const Program& program);
// Returns the live blocks below a node (itself excluded), in program order.
std::vector<Id> BlocksBelow(const Program& program, Id node);
// Returns the live blocks below a node in program order, with the node itself first if it is a block.
std::vector<Id> BlocksOf(const Program& program, Id node);

// Returns all expressions that a block evaluates: its values, its initial values and their operands. Each appears once,
// operands before users.
std::vector<Id> BodyExprs(const Program& program, Id block);

// Return the block's reads, in order of first use. Loads returns the kLoad expressions, which read at index sums of its
// iters. Gathers returns the kGather expressions, which read at indices that the body computes.
std::vector<Id> Loads(const Program& program, Id block);
std::vector<Id> Gathers(const Program& program, Id block);
// LoadsOf returns the block's kLoad expressions that read one buffer, each once, in order of first use. GathersFrom is
// true if the block reads the buffer by a gather.
std::vector<Id> LoadsOf(const Program& program, Id block, Id buffer);
bool GathersFrom(const Program& program, Id block, Id buffer);
// Return the distinct buffers that a block reads (in order of first use) or writes. Reads and Writes test for one
// buffer.
std::vector<Id> ReadBuffers(const Program& program, Id block);
std::vector<Id> WrittenBuffers(const Program& program, Id block);
bool Reads(const Program& program, Id block, Id buffer);
bool Writes(const Program& program, Id block, Id buffer);

// True if a reduction starts from the buffer's contents: its initial values read the buffer.
bool ReadsInitially(const Program& program, Id block, Id buffer);

// Return the live blocks that write (read) a buffer, in program order.
std::vector<Id> Writers(const Program& program, Id buffer);
std::vector<Id> Readers(const Program& program, Id buffer);

// Return blocks in program order, without `block` itself: Producers those that write a buffer which `block` reads,
// Consumers those that read a buffer which `block` writes.
std::vector<Id> Producers(const Program& program, Id block);
std::vector<Id> Consumers(const Program& program, Id block);

// True if the block writes a buffer that is no temporary: an output of the program or its status.
bool WritesOutput(const Program& program, Id block);

// True if a comes before b in program order. A loop or block comes before the nodes in it. False if a is b.
bool Before(const Program& program, Id a, Id b);
bool IsAncestor(const Program& program, Id ancestor, Id node);  // a node is its own ancestor
// Returns the lowest node that is an ancestor of all given nodes, of which there must be one or more. A node is its own
// ancestor.
Id LowestCommonAncestor(const Program& program, const std::vector<Id>& nodes);

}  // namespace kiln
