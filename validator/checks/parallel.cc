#include "absl/strings/str_cat.h"
#include "lang/base/defect.h"
#include "validator/checks/check.h"

namespace kiln {
namespace {

std::optional<std::string> Refuses(const LoopNestSummary& nests, const Target& /*target*/) {
  for (int32_t l = 0; l < static_cast<int32_t>(nests.loops().size()); ++l) {
    const NestLoop& loop = nests.loops()[l];
    if (loop.kind != LoopKind::kParallel || loop.extent == 1) continue;
    for (int32_t around = loop.parent; around >= 0; around = nests.loops()[around].parent) {
      const NestLoop& outer = nests.loops()[around];
      if (outer.kind == LoopKind::kParallel && outer.extent > 1) {
        return absl::StrCat(LoopText(nests, l), " is parallel inside of ", LoopText(nests, around),
                            ", which is parallel too");
      }
    }
    if (KILN_DEFECT("validator.parallel")) continue;
    if (auto reason = Dependence(nests, l, /*reductions=*/true)) {
      return absl::StrCat(LoopText(nests, l), " is parallel, but ", *reason);
    }
  }
  return std::nullopt;
}

}  // namespace

const Check kParallelCheck{"parallel", Refuses};

}  // namespace kiln
