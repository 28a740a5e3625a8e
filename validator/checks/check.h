// The interface of a check, which may refuse a scheduled program (validator/validate.h). Each file in validator/checks/
// except check.h and check.cc defines a check, or two that belong together.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "lang/analysis/loop_nest_summary.h"
#include "lang/target/target.h"
#include "lang/threads/sync_points.h"

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

// Returns why the iterations of a loop depend on each other, or nullopt if they do not. They do in three cases: a block
// below the loop reads what other iterations write; with `reductions`, a block reduces over the loop; or a block that
// does not reduce over it writes memory that the iterations share, and either does not use the loop at all or is not
// proven safe to repeat (MayRepeat in lang/analysis/loops.h).
std::optional<std::string> Dependence(const LoopNestSummary& nests, int32_t loop, bool reductions);

// Returns the size in bytes of a temporary buffer after compaction; 0 for other buffers.
int64_t TemporaryBytes(const LoopNestSummary& nests, Id buffer);

// Returns the bytes of shared memory that a thread block of a kernel needs: for its shared buffers with all copies of
// rings, and for what reductions over threads exchange. Of buffers in one place the largest counts.
int64_t SharedBytes(const LoopNestSummary& nests, Id kernel, absl::Span<const SharedPlace> places);

}  // namespace kiln
