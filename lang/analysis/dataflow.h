// The producers and consumers of buffers, and their order.
#pragma once

#include <vector>

#include "lang/program/program.h"

namespace kiln {

// Live blocks in program order, enclosing blocks before those within.
std::vector<Id> Blocks(const Program& program);
// Live blocks below a node (itself excluded), in program order.
std::vector<Id> BlocksBelow(const Program& program, Id node);
// The same with the node itself, which comes first, if it is a block.
std::vector<Id> BlocksOf(const Program& program, Id node);

// Expressions of a block that are evaluated: values, initial values, and what they are made of, each once,
// operands before users.
std::vector<Id> BodyExprs(const Program& program, Id block);

// The reads of a block at indices that are marks, its kLoad expressions; and at computed ones, its kGather
// expressions; in order of first use.
std::vector<Id> Loads(const Program& program, Id block);
std::vector<Id> Gathers(const Program& program, Id block);
// Those of one buffer. Parts of the body that do not read it are not looked at.
std::vector<Id> LoadsOf(const Program& program, Id block, Id buffer);
bool GathersFrom(const Program& program, Id block, Id buffer);
// Distinct buffers it reads, in order of first use; and writes. Whether one is among them.
std::vector<Id> ReadBuffers(const Program& program, Id block);
std::vector<Id> WrittenBuffers(const Program& program, Id block);
bool Reads(const Program& program, Id block, Id buffer);
bool Writes(const Program& program, Id block, Id buffer);

// True if a reduction starts from what is in the buffer: its initial values read it.
bool ReadsInitially(const Program& program, Id block, Id buffer);

// Live blocks that write (read) a buffer, in program order.
std::vector<Id> Writers(const Program& program, Id buffer);
std::vector<Id> Readers(const Program& program, Id buffer);

// Blocks that write what `block` reads; that read what it writes (each without itself), in program order.
std::vector<Id> Producers(const Program& program, Id block);
std::vector<Id> Consumers(const Program& program, Id block);

// True if it writes a parameter of the program.
bool WritesOutput(const Program& program, Id block);

// True if a comes before b in program order (a loop comes before what is in it).
bool Before(const Program& program, Id a, Id b);
bool IsAncestor(const Program& program, Id ancestor, Id node);  // a node is its own ancestor
// The lowest node that is an ancestor of all.
Id LowestCommonAncestor(const Program& program, const std::vector<Id>& nodes);

}  // namespace kiln
