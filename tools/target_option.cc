#include "tools/target_option.h"

#include <cstdio>

#include "absl/strings/str_cat.h"

namespace kiln::tools {

CLI::Option* AddTarget(CLI::App& command, std::string* name, const std::string& help) {
  return command.add_option("--target", *name, help)->check(CLI::IsMember(TargetNames()));
}

absl::StatusOr<Target> TargetOfRecord(const std::string& name, const Target& measured) {
  if (name.empty()) return measured;
  return NamedTarget(name, measured.cores);
}

void NoteCores(int threads, const Target& target) {
  if (threads <= target.cores) return;
  std::fprintf(stderr, "kiln: --threads %d: only %d %s may be used here, so programs run on %d\n", threads,
               target.cores, target.cores == 1 ? "core" : "cores", target.cores);
}

std::string MachineText(const Target& target) {
  return absl::StrCat(target.cpu, ", ", target.cores, target.cores == 1 ? " core" : " cores");
}

}  // namespace kiln::tools
