// Checks that no buffer of threads, warps or blocks is used by two kernels: such memory ends with its kernel
// (thread_clocks.h).
//
//   KernelMemory memory(program);
//   absl::Status status = memory.Use(block, buffer);     // at each use
//
// Use returns kFailedPrecondition if another kernel used the buffer before. A kernel is a child of the root.
#pragma once

#include <map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/placement.h"
#include "lang/program/program.h"

namespace kiln {

class KernelMemory {
 public:
  explicit KernelMemory(const Program& program) : p_(program) {}

  absl::Status Use(Id block, Id buffer) {
    if (p_.buffers[buffer].scope.owner == Owner::kGrid) return absl::OkStatus();
    const Id first = first_.try_emplace(buffer, block).first->second;
    if (NestOf(p_, first) == NestOf(p_, block)) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat(Describe(p_, block), " uses buffer ", p_.Text(p_.buffers[buffer].name),
                     ", which ended with the kernel of ", Describe(p_, first)));
  }

 private:
  const Program& p_;
  std::map<Id, Id> first_;  // by buffer: the block that used it first
};

}  // namespace kiln
