#include "absl/strings/str_cat.h"
#include "lang/base/defect.h"
#include "validator/checks/check.h"

namespace kiln {
namespace {

constexpr int64_t kMaxLanes = 64;

std::optional<std::string> Refuses(const LoopNestSummary& nests, const Target& /*target*/) {
  for (int32_t l = 0; l < static_cast<int32_t>(nests.loops().size()); ++l) {
    const NestLoop& loop = nests.loops()[l];
    for (int32_t around = loop.parent; around >= 0; around = nests.loops()[around].parent) {
      if (nests.loops()[around].kind != LoopKind::kVectorized || loop.extent == 1) continue;
      if (loop.kind != LoopKind::kVectorized && loop.kind != LoopKind::kParallel) continue;
      return absl::StrCat(LoopText(nests, l), " is ", ToString(loop.kind), " inside of ",
                          LoopText(nests, around), ", which is vectorized");
    }
    if (loop.kind != LoopKind::kVectorized) continue;
    if (loop.extent < 2 || loop.extent > kMaxLanes) {
      return absl::StrCat(LoopText(nests, l), " is vectorized with ", loop.extent, " lanes; 2 to ", kMaxLanes,
                          " are allowed");
    }
    if (KILN_DEFECT("validator.vectorized")) continue;
    if (auto reason = Dependence(nests, l, /*reductions=*/false)) {
      return absl::StrCat(LoopText(nests, l), " is vectorized, but ", *reason);
    }
  }
  return std::nullopt;
}

}  // namespace

const Check kVectorizedCheck{"vectorized", Refuses};

}  // namespace kiln
