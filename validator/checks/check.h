// The declaration that each file in validator/checks/ makes.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "lang/analysis/nests.h"
#include "lang/target/target.h"

namespace kiln {

struct Check {
  absl::string_view name;
  // Why the program may not run; nullopt if this check lets it pass.
  std::optional<std::string> (*refuses)(const Nests& nests, const Target& target);
};

extern const Check kParallelCheck, kVectorizedCheck, kRegistersCheck, kRegisterTileCheck, kUnrolledCheck,
    kStackCheck, kMemoryCheck, kDepthCheck;

// For messages: `loop i`, `block "matmul"`, `buffer C`.
std::string LoopText(const Nests& nests, int32_t loop);
std::string BlockText(const Nests& nests, const NestBlock& block);
std::string BufferText(const Nests& nests, Id buffer);

// Why the iterations of a loop are not independent: a block below it writes what they share, or (if
// `reductions` count) reduces over it.
std::optional<std::string> Dependence(const Nests& nests, int32_t loop, bool reductions);

// Bytes of a temporary after compaction.
int64_t TemporaryBytes(const Nests& nests, Id buffer);

}  // namespace kiln
