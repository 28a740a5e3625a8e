// The plan of a decomposed Program that lowering makes before it emits code: every index over the loops that
// run, the conditions of instances and reads, and the place of each buffer.
//
// All sums are over Source::Loop of live loops. Where the algebra cannot divide, they contain a Source::Mark,
// whose own value is in `marks` in the same terms. This file does not depend on MLIR.
#pragma once

#include <unordered_map>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

// The condition 0 <= value < extent. Equal conditions are shared; a condition is named by its position in
// Plan::conditions.
struct Condition {
  IndexSum value;
  int64_t extent = 0;
  std::vector<Id> loops;  // all that the value depends on
};

struct BlockPlan {
  std::vector<int> guards;                  // an instance exists if all of them hold
  std::vector<int> droppable;               // those of them that only skip terms of a sum which are zero
  std::unordered_map<Id, IndexSum> values;  // kIndex expressions
  std::unordered_map<Id, IndexSum>
      addresses;  // kLoad and kGather expressions: elements from the buffer's start
  std::unordered_map<Id, std::vector<int>> within;  // kWithin expressions
  // kGather expressions: for each index the mark of a computed index, or kNone if an IndexSum expresses it.
  std::unordered_map<Id, std::vector<Id>> gathers;
  std::vector<IndexSum> dests;      // addresses, one per result
  std::vector<Id> reduction_loops;  // those around the block that feed a reduction iter
};

enum class Memory { kParameter, kGlobal, kAlloca, kHeap };

struct BufferPlan {
  bool used = false;
  Memory place = Memory::kParameter;
  int64_t elements = 1;        // of the address space, after layout and compaction
  bool crosses = false;        // a temporary that the prepare phase writes and the main phase reads
  bool per_iteration = false;  // private to iterations of the parallel loop around all accesses
  Id shares = kNone;           // the buffer whose memory it uses (share_storage.h); kNone: its own
};

struct Plan {
  std::vector<Condition> conditions;
  std::unordered_map<Id, BlockPlan> blocks;  // by node
  std::vector<BufferPlan> buffers;
  std::unordered_map<Id, IndexSum> marks;

  // The buffer whose memory this buffer uses: itself, or the one that it shares with.
  Id MemoryOf(Id buffer) const { return buffers[buffer].shares == kNone ? buffer : buffers[buffer].shares; }
};

struct PlanOptions {
  int64_t stack_bytes = 32 * 1024;  // limit of one buffer; larger buffers go to the heap, unless in registers
  bool drops_terms = true;          // leaves out terms of sums that are zero: BlockPlan::droppable
};

// True for a parallel loop with more than one iteration.
bool RunsOnThreads(const Program& program, Id node);

// Plans a program. Adds marks to the program if an index cannot be expressed otherwise.
Plan MakePlan(Program& program, const PlanOptions& options = {});

std::string ToString(const Program& program, const Plan& plan);

}  // namespace kiln
