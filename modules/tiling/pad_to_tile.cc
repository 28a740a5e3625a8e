// Pad-To-Tile: extents of a contraction that divide badly grow to a multiple that tiles fill.
//
//   for i in 0..6, j in 0..13, k in 0..7: C[i, j] += A[i, k] * B[k, j]
//   -> lanes of 8:  B.pad[k, j] = j < 13 ? B[k, j] : 0
//                   for i in 0..6, j in 0..16, k in 0..7: C.pad[i, j] += A[i, k] * B.pad[k, j]
//                   C[i, j] = C.pad[i, j]
//
// Applies to: untouched contractions whose innermost loop of the result (the lanes') is longer than a vector
// and no multiple of one, or whose reductions of more than 64 have no tile of 4 to 64; each at most
// waste-percent larger when it is padded. Rows need no padding: their tiles may be imperfect.
// Structure:  pad = none | lanes to pairs of vectors (to single ones where these waste too much) and
//             reductions to eights
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lang/analysis/access.h"
#include "lang/analysis/axes.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/patterns/contraction.h"
#include "modules/default_modules.h"
#include "modules/untouched.h"

namespace kiln {
namespace {

bool DividesBadly(int64_t extent) {
  if (extent <= 64) return false;
  for (int64_t tile = 4; tile <= 64; ++tile) {
    if (extent % tile == 0) return false;
  }
  return true;
}

// As pad-einsum wants it.
absl::Status CheckReadsAtIters(const Program& p, Id block) {
  if (ReadsAtIters(p, block, false)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(Describe(p, block), " reads at more than its iters, as a convolution does"));
}

// What each iter is padded to a multiple of; all 1: nothing is.
std::vector<int64_t> MultiplesOf(const Program& p, Id block, int64_t lanes, int64_t waste_percent) {
  const auto iters = p.Iters(p.block(block).iters);
  const std::optional<int> last = LastDimIter(p, block);
  std::vector<int64_t> multiples;
  for (int i = 0; i < static_cast<int>(iters.size()); ++i) {
    const int64_t extent = iters[i].extent.Known();
    const bool innermost = last == i;
    const auto more = [&](int64_t multiple) { return (multiple - extent % multiple) % multiple; };
    const auto fits = [&](int64_t multiple) { return more(multiple) * 100 <= extent * waste_percent; };
    int64_t multiple = 1;
    if (innermost && extent > lanes && more(lanes) > 0) multiple = fits(2 * lanes) ? 2 * lanes : lanes;
    if (iters[i].kind == IterKind::kReduction && DividesBadly(extent)) multiple = 8;
    multiples.push_back(more(multiple) > 0 && fits(multiple) ? multiple : 1);
  }
  return multiples;
}

}  // namespace

BlockModule PadToTile(PadToTileOptions options) {
  return {"pad-to-tile", [options](Schedule& s, Block block) {
            if (!s.ok() || s.Declines(CheckUntouched(s.program(), s.node(block))) ||
                s.Declines(AsContraction(s.program(), s.node(block)).status()) ||
                s.Declines(CheckReadsAtIters(s.program(), s.node(block))))
              return;
            const Program& p = s.program();
            const Id node = s.node(block);
            const DType type = p.buffers[WrittenBuffers(p, node)[0]].dtype;
            const std::vector<int64_t> multiples =
                MultiplesOf(p, node, s.target().vector_bytes / SizeOf(type), options.waste_percent);
            const bool fits =
                std::all_of(multiples.begin(), multiples.end(), [](int64_t m) { return m == 1; });
            if (s.Declines(fits ? absl::FailedPreconditionError(absl::StrCat(
                                      Describe(p, node), " has lanes and reductions that tiles fill"))
                                : absl::OkStatus()))
              return;
            if (s.Choose("pad", 2) == 1) s.PadEinsum(block, multiples);
          }};
}

KILN_MODULE("pad-to-tile", PadToTile,
            Option("waste-percent", &PadToTileOptions::waste_percent, Between(0, 100)));

}  // namespace kiln
