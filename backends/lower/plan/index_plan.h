// What a decomposed Program means for lowering: every index over the loops that run, the conditions of
// instances and reads, and the place of each buffer. passes/plan_indices.h makes it.
//
// All sums are over Source::Loop of live loops. Where the algebra cannot divide, they contain a Source::Mark,
// whose own value is in `marks` in the same terms.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "lang/program/program.h"

namespace kiln {

// The condition 0 <= value < extent. Equal conditions are shared; a condition is named by its position in
// IndexPlan::conditions.
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

// Where a buffer lies. In a kernel of a GPU, kAlloca is memory of a thread, kShared is in the block's arena of
// shared memory, and kWorkspace is in the memory that the caller lends to all kernels of the program.
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

  // Returns the buffer whose memory this buffer uses: itself, or the one that it shares with.
  Id MemoryOf(Id buffer) const { return buffers[buffer].shares == kNone ? buffer : buffers[buffer].shares; }
};

std::string ToString(const Program& program, const IndexPlan& plan);
// Returns the lines of ToString that describe buffers. `names`: the name of each buffer.
std::string StorageText(const IndexPlan& plan, absl::Span<const std::string> names);

}  // namespace kiln
