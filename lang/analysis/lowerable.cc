#include "lang/analysis/lowerable.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/placement.h"
#include "lang/base/defect.h"

namespace kiln {

absl::Status VerifyLowerable(const LoopNestSummary& nests) {
  const Program& p = nests.program();
  for (const NestLoop& loop : nests.loops()) {
    const bool parallel = loop.kind == LoopKind::kParallel;
    if ((!parallel && loop.kind != LoopKind::kVectorized) || loop.extent == 1) continue;
    for (int32_t around = loop.parent; around >= 0; around = nests.loops()[around].parent) {
      const NestLoop& outer = nests.loops()[around];
      const bool refused =
          outer.kind == LoopKind::kVectorized || (parallel && outer.kind == LoopKind::kParallel);
      if (!refused || outer.extent == 1) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          Describe(p, loop.node), " is ", ToString(loop.kind), " inside of ", Describe(p, outer.node),
          ", which is ", ToString(outer.kind), outer.kind == loop.kind ? " too" : ""));
    }
  }
  for (const NestAccess& access : nests.accesses()) {
    const Buffer& buffer = p.buffers[access.buffer];
    if (buffer.scope.storage != Storage::kRegister) continue;
    for (const NestAxis& axis : nests.axes(access)) {
      for (const NestTerm& term : nests.terms(axis)) {
        const NestLoop& loop = nests.loops()[term.loop];
        if (loop.kind == LoopKind::kUnrolled || loop.kind == LoopKind::kVectorized ||
            loop.kind == LoopKind::kVirtualThread || KILN_DEFECT("lowerable.registers"))
          continue;
        if (OnAxis(p, loop.node) && IsPrivateTo(p, access.buffer, loop.node)) continue;  // each has its own
        return absl::FailedPreconditionError(
            absl::StrCat(Describe(p, nests.blocks()[access.block].node), " indexes buffer ",
                         p.Text(buffer.name), ", which is in registers, by ", Describe(p, loop.node),
                         ", which is ", ToString(loop.kind), "; it must be unrolled or vectorized"));
      }
    }
  }
  const auto on_axis = [](const NestLoop& loop) {
    return loop.extent > 1 && (IsBlockAxis(loop.kind) || IsThreadAxis(loop.kind));
  };
  const bool axes = std::any_of(nests.loops().begin(), nests.loops().end(), on_axis);
  return axes ? CheckOwners(p) : absl::OkStatus();
}

}  // namespace kiln
