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

MaybeFailure RunInEmulator(const EmulationOptions& options, const BoundKernel& entry) {
  const Emulation emulation(options);
  const int status = entry.Run();
  if (!emulation.fault().empty())
    return Failure{RunStatus::kNonZeroStatus,
                   absl::StrCat("in the emulator, with ", NameOf(options.mode), ": ", emulation.fault())};
  if (status == 0) return std::nullopt;
  return Failure{RunStatus::kNonZeroStatus, absl::StrCat("the emulated kernel returned ", status)};
}

}  // namespace

MaybeFailure LoadedKernel::RunEmulated() const { return RunInEmulator(*emulation, timed.kernel); }

MaybeFailure LoadedKernel::PrepareEmulated() const {
  return RunInEmulator({emulation->mode, emulation->seed}, Prepare());
}

}  // namespace kiln
