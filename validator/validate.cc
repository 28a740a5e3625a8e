#include "validator/validate.h"

#include "absl/strings/str_cat.h"
#include "validator/checks/check.h"

namespace kiln {
namespace {

// The checks in the order in which they run. The depth check comes first, because other checks keep sets of loops in
// bit masks.
const Check* const kChecks[] = {
    &kDepthCheck,        &kGpuLaunchCheck,    &kParallelCheck,   &kVectorizedCheck, &kRegistersCheck,
    &kRegisterTileCheck, &kUnrolledCheck,     &kStackCheck,      &kMemoryCheck,     &kGpuThreadsCheck,
    &kGpuSharedCheck,    &kGpuRegistersCheck, &kGpuVectorsCheck,
};

}  // namespace

absl::Status Verdict::status() const {
  return ok ? absl::OkStatus() : absl::FailedPreconditionError(absl::StrCat("check ", check, ": ", message));
}

Verdict Validate(const LoopNestSummary& nests, const Target& target) {
  for (const Check* check : kChecks) {
    if (check->applies != nullptr && !check->applies(target)) continue;
    if (auto refusal = check->refuses(nests, target)) return {false, check->name, *std::move(refusal)};
  }
  return {};
}

Verdict Validate(const Program& program, const Target& target) {
  const absl::Status status = Verify(program);
  if (!status.ok()) return {false, "verify", std::string(status.message())};
  LoopNestSummary nests;
  nests.Read(program);
  return Validate(nests, target);
}

}  // namespace kiln
