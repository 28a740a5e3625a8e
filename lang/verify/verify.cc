#include "lang/verify/verify.h"

#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/placement.h"
#include "lang/patterns/match.h"
#include "lang/verify/checker.h"

namespace kiln {
namespace {

// Checks rules that concern several blocks: calls match their intrinsics, and prepared nests and pipelined loops are
// legal. Returns kInternal, with the program's name, if one does not hold.
absl::Status CheckTogether(const Program& p) {
  const absl::Status calls = HasCalls(p) ? CheckCalls(p) : absl::OkStatus();
  const absl::Status kept = calls.ok() && Restricted(p) ? CheckRestrictions(p) : calls;
  if (kept.ok()) return kept;
  return absl::InternalError(absl::StrCat("program \"", p.name, "\": ", kept.message()));
}

}  // namespace

absl::Status Verify(const Program& program) {
  Id broken = kNone;
  return Verify(program, broken);
}

absl::Status Verify(const Program& program, Id& broken) {
  broken = kNone;
  Violation first;
  CheckPools(program, first);
  if (first.status.ok()) CheckTree(program, first);
  if (!first.status.ok()) return first.status;
  for (const Id block : Blocks(program)) {
    first.where = absl::StrCat(Describe(program, block), ": ");
    CheckBlock(program, block, first);
    if (first.status.ok()) continue;
    broken = block;
    return first.status;
  }
  return CheckTogether(program);
}

}  // namespace kiln
