#include "lang/analysis/lowerable.h"
#include "validator/checks/check.h"

namespace kiln {
namespace {

std::optional<std::string> Refuses(const LoopNestSummary& nests, const Target& /*target*/) {
  const absl::Status status = VerifyLowerable(nests);
  if (status.ok()) return std::nullopt;
  return std::string(status.message());
}

}  // namespace

const Check kRegistersCheck{"registers", Refuses};

}  // namespace kiln
