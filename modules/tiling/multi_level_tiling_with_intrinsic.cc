// Multi-Level-Tiling-With-Intrinsic: tiles a contraction such that its innermost tile is one call of a hardware
// intrinsic. The tiles around the call are those of multi-level tiling.
//
//   for i, j, k: C[i,j] += A[i,k] * B[k,j]
//   -> m, n, k: the contraction as a matrix product, padded to multiples of the intrinsic's m, n, k (einsum)
//   -> for m0, n0, m1, n1, k0, m2, n2, k1, m3, n3:       tiles by the option `structure`, counted in intrinsics
//        call acc[m, n] += A[m, k] * B[k, n]             acc in registers; below n2, added to C after the loop k1
//
// Applies to: unscheduled blocks that MatchContraction accepts for an intrinsic family of the target: outer products of
// fused multiply-adds, dot products of bytes (VNNI) and of bf16, matrix units.
// Structure:  intrinsic  = none (leaves the block as it is) | one alternative for each family that fits and whose name
//                          begins with one of the option `families`
//             read-reuse = as in multi-level tiling. If one call reads several k and B can be packed, each alternative
//                          packs B: these k must be neighbors in memory
//             epilogue   = as in multi-level tiling
#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lang/patterns/contraction.h"
#include "modules/tiling/tile_for_reuse.h"
#include "modules/tiling/tile_loops.h"
#include "modules/unscheduled.h"

namespace kiln {
namespace {

// True if the name begins with one of the comma-separated prefixes, or if there are no prefixes.
bool IsOneOf(const std::string& name, const std::string& families) {
  const std::vector<std::string> all = absl::StrSplit(families, ',');
  return std::any_of(all.begin(), all.end(), [&](const std::string& f) { return absl::StartsWith(name, f); });
}

// Returns what the option `families` accepts: prefixes of the names of intrinsic families of all machines, separated by
// commas.
Allowed Families() {
  const auto known = [](absl::string_view begin) {
    return absl::c_any_of(AllIntrinsics(), [&](const Intrinsic* intrinsic) {
      const IntrinsicFamily* family = FamilyThatComputesWith(intrinsic->name);
      return family != nullptr && absl::StartsWith(family->name, begin);
    });
  };
  return {.text = [=](const std::string& text) { return absl::c_all_of(absl::StrSplit(text, ','), known); },
          .texts = "how names of families of intrinsics begin, such as vnni,bf16, with commas between"};
}

}  // namespace

BlockModule MultiLevelTilingWithIntrinsic(TilingWithIntrinsicOptions options) {
  return {"multi-level-tiling-with-intrinsic", [options](Schedule& s, Block block) {
            if (!s.ok() || s.Skip(CheckUnscheduled(s.program(), s.node(block)))) return;
            auto fits = MatchContraction(s.program(), s.node(block), s.target().matrix_intrinsics());
            std::erase_if(fits, [&](auto* unit) { return !IsOneOf(unit->name, options.families); });
            if (fits.empty()) {
              s.Skip(absl::FailedPreconditionError("no intrinsic of the target does what it does"));
              return;
            }
            std::vector<std::string> names = {"none"};
            for (const IntrinsicFamily* family : fits) names.push_back(family->name);
            if (const int pick = s.Choose("intrinsic", names); pick > 0)
              TileForReuse(s, block, options, fits[pick - 1]);
          }};
}

KILN_MODULE("multi-level-tiling-with-intrinsic", MultiLevelTilingWithIntrinsic,
            Option("families", &TilingWithIntrinsicOptions::families, Families()),
            Option("structure", &TilingWithIntrinsicOptions::structure, LevelsOfTiles()));

}  // namespace kiln
