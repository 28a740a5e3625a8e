// Pad-To-Tile: pads extents of a contraction that have no good tile sizes to a multiple that tiles can fill.
//
//   for i in 0..6, j in 0..13, k in 0..7: C[i, j] += A[i, k] * B[k, j]
//   -> lanes of 8, waste-percent=25:
//                   B.pad[k, j] = j < 13 ? B[k, j] : 0
//                   for i in 0..6, j in 0..16, k in 0..7: C.pad[i, j] += A[i, k] * B.pad[k, j]
//                   C[i, j] = C.pad[i, j]
//
// Applies to: unscheduled contractions in which one of these holds. The vectorized loop, which is the
// innermost of the result, is longer than a vector and not a multiple of one. A reduction loop longer than 64
// has no divisor from 4 to 64. Padding may enlarge an extent by at most waste-percent. Other spatial loops
// need no padding, since their tiles may be imperfect.
// Structure:  pad = no | yes: the vectorized loop to a multiple of a vector, or under Policy::kPaddedPairs of two
//             vectors if that does not waste too much, and reduction loops to multiples of 8
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/axes.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "modules/default_modules.h"
#include "modules/unscheduled.h"

namespace kiln {
namespace {

bool DividesBadly(int64_t extent, const CostTable& costs) {
  if (extent <= costs.most_tile) return false;
  for (int64_t tile = costs.least_tile; tile <= costs.most_tile; ++tile) {
    if (extent % tile == 0) return false;
  }
  return true;
}

// Returns for each iter of a contraction the number to a multiple of which its extent is padded; 1 means no padding.
std::vector<int64_t> MultiplesOf(const Program& p, Id block, const Target& target, int64_t waste_percent) {
  const int64_t lanes = target.vector_bytes / SizeOf(p.buffers[WrittenBuffers(p, block)[0]].dtype);
  const bool pairs = target.policies.Has(Policy::kPaddedPairs);
  const auto iters = p.Iters(p.block(block).iters);
  const std::optional<int> last = LastDimIter(p, block);
  std::vector<int64_t> multiples;
  for (int i = 0; i < static_cast<int>(iters.size()); ++i) {
    const int64_t extent = iters[i].extent.Known();
    const bool innermost = last == i;
    const auto more = [&](int64_t multiple) { return (multiple - extent % multiple) % multiple; };
    const auto fits = [&](int64_t multiple) { return more(multiple) * 100 <= extent * waste_percent; };
    int64_t multiple = 1;
    if (innermost && extent > lanes && more(lanes) > 0)
      multiple = pairs && fits(2 * lanes) ? 2 * lanes : lanes;
    if (iters[i].kind == IterKind::kReduction && DividesBadly(extent, target.costs))
      multiple = target.costs.padded_tile;
    multiples.push_back(more(multiple) > 0 && fits(multiple) ? multiple : 1);
  }
  return multiples;
}

}  // namespace

BlockModule PadToTile(PadToTileOptions options) {
  return {"pad-to-tile", [options](Schedule& s, Block block) {
            if (!s.ok() || s.Skip(CheckReadsAtIters(s.program(), s.node(block)))) return;
            const Program& p = s.program();
            const Id node = s.node(block);
            const std::vector<int64_t> multiples = MultiplesOf(p, node, s.target(), options.waste_percent);
            const bool fits =
                std::all_of(multiples.begin(), multiples.end(), [](int64_t m) { return m == 1; });
            if (s.Skip(fits ? absl::FailedPreconditionError(absl::StrCat(
                                  Describe(p, node), " has lanes and reductions that tiles fill"))
                            : absl::OkStatus()))
              return;
            if (s.Choose("pad", {"no", "yes"}) == 1) s.PadEinsum(block, multiples);
          }};
}

KILN_MODULE("pad-to-tile", PadToTile,
            Option("waste-percent", &PadToTileOptions::waste_percent, Between(0, 100)));

}  // namespace kiln
