#include "backends/runner/loaded.h"

#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

const char* NameOf(EmulationMode mode) {
  switch (mode) {
    case EmulationMode::kEager:
      return "copies at once";
    case EmulationMode::kLate:
      return "late copies";
    case EmulationMode::kRandom:
      return "a random order";
  }
  return "";
}

MaybeFailure RunInEmulator(const Emulation& emulation, EmulationMode mode, const BoundKernel& entry) {
  const int status = entry.Run();
  if (!emulation.fault().empty())
    return Failure{RunStatus::kNonZeroStatus,
                   absl::StrCat("in the emulator, with ", NameOf(mode), ": ", emulation.fault())};
  if (status == 0) return std::nullopt;
  return Failure{RunStatus::kNonZeroStatus, absl::StrCat("the emulated kernel returned ", status)};
}

}  // namespace

MaybeFailure LoadedKernel::RunEmulated() {
  const Emulation run(*emulation);
  MaybeFailure failure = RunInEmulator(run, emulation->mode, timed.kernel);
  is_partial = run.counts().left_out > 0;
  return failure;
}

MaybeFailure LoadedKernel::PrepareEmulated() const {
  return RunInEmulator(Emulation({emulation->mode, emulation->seed}), emulation->mode, Prepare());
}

}  // namespace kiln
