// The interface of a check. Each file in validator/checks/ defines one.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "lang/analysis/loop_nest_summary.h"
#include "lang/target/target.h"

namespace kiln {

struct Check {
  absl::string_view name;
  // Returns why the program may not run, or nullopt if this check accepts it.
  std::optional<std::string> (*refuses)(const LoopNestSummary& nests, const Target& target);
  bool (*applies)(const Target& target) = nullptr;  // the targets that it is for; nullptr: all
};

inline bool IsForGpus(const Target& target) { return target.gpu != nullptr; }
inline bool IsForCpus(const Target& target) { return target.gpu == nullptr; }

extern const Check kParallelCheck, kVectorizedCheck, kRegistersCheck, kRegisterTileCheck, kUnrolledCheck,
    kStackCheck, kMemoryCheck, kDepthCheck;
extern const Check kGpuThreadsCheck, kGpuLaunchCheck, kGpuSharedCheck, kGpuRegistersCheck, kGpuVectorsCheck;

// Return texts for messages: `loop i`, `block "matmul"`, `buffer C`.
std::string LoopText(const LoopNestSummary& nests, int32_t loop);
std::string BlockText(const LoopNestSummary& nests, const NestBlock& block);
std::string BufferText(const LoopNestSummary& nests, Id buffer);

// Returns why the iterations of a loop depend on each other, or nullopt: a block below the loop writes
// memory that the iterations share, or reduces over the loop (only considered if `reductions` is true).
std::optional<std::string> Dependence(const LoopNestSummary& nests, int32_t loop, bool reductions);

// Returns the size in bytes of a temporary buffer after compaction.
int64_t TemporaryBytes(const LoopNestSummary& nests, Id buffer);

}  // namespace kiln
