// IndexPlan: for lowering, every index of a decomposed Program (passes/decompose_reductions.h) as a sum over the loops
// that run, the conditions under which instances of blocks and reads exist, and the place of each buffer in memory.
// PlanIndices (passes/plan_indices.h) makes it.
//
// All sums are over Source::Loop of live loops. If a sum must be divided and the algebra cannot express the quotient,
// it contains a Source::Mark that is divided instead. `marks` has the value of each mark, as a sum of this kind.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

// The condition 0 <= value < extent, under which an instance of a block or a read exists. Equal conditions are stored
// once. Their users name a condition by its position in IndexPlan::conditions.
struct Condition {
  IndexSum value;
  int64_t extent = 0;
  std::vector<Id> loops;  // all that the value depends on
};

struct BlockPlan {
  std::vector<int> guards;                  // an instance exists if all of them hold
  std::vector<int> droppable;               // those guards that only skip terms of a sum which are zero
  std::unordered_map<Id, IndexSum> values;  // by kIndex expression
  std::unordered_map<Id, IndexSum>
      addresses;  // by kLoad or kGather expression: in elements from the buffer's start
  std::unordered_map<Id, std::vector<int>> within;  // by kWithin expression: its conditions
  // By kGather expression (a load with computed indices): for each of its indices the mark that stands for the index in
  // sums if the program computes it as a value, or kNone if an IndexSum expresses it.
  std::unordered_map<Id, std::vector<Id>> gathers;
  std::vector<IndexSum> dests;      // addresses, one per result
  std::vector<Id> reduction_loops;  // those around the block that feed a reduction iter
};

// Where the memory of a buffer is: an argument of the caller, a constant in the object file, the stack or the heap. In
// a kernel of a GPU, kAlloca is memory of a thread, kShared is in the block's arena of shared memory, and kWorkspace is
// in the memory that the caller lends to all kernels of the program.
enum class Memory { kParameter, kGlobal, kAlloca, kHeap, kShared, kWorkspace };
inline constexpr absl::string_view kMemoryNames[] = {"parameter", "global", "alloca",
                                                     "heap",      "shared", "workspace"};
inline bool HasOffset(Memory place) { return place == Memory::kShared || place == Memory::kWorkspace; }

struct BufferPlan {
  bool in_main = false, in_prepare = false;  // whether blocks of a phase use it
  Memory place = Memory::kParameter;
  int64_t offset = 0;          // HasOffset: bytes from the beginning of the arena or the workspace
  int64_t elements = 1;        // of the address space, after layout and compaction
  bool crosses = false;        // a temporary that the prepare phase writes and the main phase reads
  bool per_iteration = false;  // private to iterations of the parallel loop around all accesses
  Id shares = kNone;           // the buffer whose memory it uses (share_storage.h); kNone: its own

  bool used() const { return in_main || in_prepare; }
};

struct IndexPlan {
  std::vector<Condition> conditions;
  std::unordered_map<Id, BlockPlan> blocks;  // by node
  std::vector<BufferPlan> buffers;
  std::unordered_map<Id, IndexSum> marks;

  // Returns the buffer in whose memory this buffer lies: the buffer itself, or the one with which it shares memory.
  Id MemoryOf(Id buffer) const { return buffers[buffer].shares == kNone ? buffer : buffers[buffer].shares; }
};

std::string ToString(const Program& program, const IndexPlan& plan);
// Returns a line of text for each used buffer: its name from `names`, its number of elements and where it lies in
// memory. ToString of an IndexPlan contains these lines.
std::string StorageText(const IndexPlan& plan, absl::Span<const std::string> names);

}  // namespace kiln
