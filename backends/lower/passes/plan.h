// What lowering knows about a decomposed Program before it emits anything: every index in terms of the loops
// that run, the conditions under which things happen, and where each buffer lives.
//
// All sums are over Source::Loop of live loops, and over Source::Mark where the algebra cannot divide: such a
// mark's own value is in `marks`, in the same terms. Nothing here knows MLIR.
#pragma once

#include <unordered_map>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

// 0 <= value < extent. Equal conditions are shared; a condition is named by its position in Plan::conditions.
struct Condition {
  IndexSum value;
  int64_t extent = 0;
  std::vector<Id> loops;  // all that the value depends on
};

struct BlockPlan {
  std::vector<int> guards;                  // the instance exists where all hold
  std::vector<int> droppable;               // guards that leave out terms of a sum that are zero
  std::unordered_map<Id, IndexSum> values;  // kIndex expressions
  std::unordered_map<Id, IndexSum>
      addresses;  // kLoad and kGather expressions: elements from the buffer's start
  std::unordered_map<Id, std::vector<int>> within;  // kWithin expressions
  // kGather expressions: the marks that stand for computed indices, kNone for those that an IndexSum can say.
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
  bool per_iteration = false;  // of the parallel loop around all accesses: threads must not share it
  Id shares = kNone;           // the buffer in whose memory it lies (share_storage.h); kNone: in its own
};

struct Plan {
  std::vector<Condition> conditions;
  std::unordered_map<Id, BlockPlan> blocks;  // by node
  std::vector<BufferPlan> buffers;
  std::unordered_map<Id, IndexSum> marks;

  // The buffer whose memory it has: itself, or what it shares.
  Id MemoryOf(Id buffer) const { return buffers[buffer].shares == kNone ? buffer : buffers[buffer].shares; }
};

struct PlanOptions {
  int64_t stack_bytes = 32 * 1024;  // of one buffer; larger ones, unless in registers, are allocated
};

// A parallel loop of more than one iteration.
bool RunsOnThreads(const Program& program, Id node);

// Adds marks to the program where an index cannot be expressed otherwise.
Plan MakePlan(Program& program, const PlanOptions& options = {});

std::string ToString(const Program& program, const Plan& plan);

}  // namespace kiln
