// Multi-Level-Tiling-With-Intrinsic: the innermost tile of a contraction is one intrinsic of the target, and
// the tiles around it are those of multi-level tiling.
//
//   for i, j, k: C[i,j] += A[i,k] * B[k,j]
//   -> m, n, k: the contraction as a product of matrices, padded to multiples of the intrinsic's (einsum)
//   -> for m0, n0, m1, n1, k0, m2, n2, k1, m3, n3:       tiles by structure, in intrinsics
//        call acc[m, n] += A[m, k] * B[k, n]             acc in registers, combined below m2, n2
//
// Applies to: untouched blocks that MatchContraction accepts for a family of the target: outer products of
// fused multiply-adds, dot products of bytes (VNNI) and of bf16, matrix units.
// Structure:  intrinsic = none | one per family that fits and whose name begins with `family`
//             packed    = none | B below the first k level, the k of a call next to each other
#include <algorithm>

#include "absl/strings/match.h"
#include "lang/analysis/contraction.h"
#include "modules/tiling.h"
#include "modules/untouched.h"

namespace kiln {
namespace {

// One loop in tiles of `size`, and these in as many parts as the structure has levels of the kind.
struct Tiled {
  std::vector<Loop> levels;
  Loop tile;
  std::vector<Value> factors;  // if it was tiled
};

Tiled TileOf(Schedule& s, Loop loop, int64_t size, int parts, Schedule::TileOptions options,
             absl::string_view label) {
  const std::vector<Loop> split = s.Split(loop, std::vector<Factor>{kAuto, size});
  if (parts < 2) return {{split[0]}, split[1], {}};
  options.parts = parts;
  options.innermost = std::max<int64_t>(1, options.innermost / size);
  const Value factors = s.SamplePerfectTile(split[0], options, label);
  return {s.Split(split[0], {factors}), split[1], {factors}};
}

void TileWithIntrinsic(Schedule& s, Block block, const IntrinsicFamily& unit,
                       const TilingWithIntrinsicOptions& options) {
  const bool packed = s.Choose("packed", 2) == 1;
  const std::string& levels = options.structure;
  const int rows = static_cast<int>(std::count(levels.begin(), levels.end(), 'S')),
            steps = static_cast<int>(levels.size()) - rows;
  const int64_t lanes = s.target().vector_bytes / 4,     // sums are of 32 bits
      fills = unit.m * std::max(lanes, unit.n) / lanes;  // registers
  const auto loops = s.Einsum(block, {unit.m, unit.n, unit.k});
  Schedule::TileOptions tile{.innermost = options.max_innermost,
                             .budget = std::max<int64_t>(1, (s.target().vector_registers - 1) / fills),
                             .lanes = std::max<int64_t>(1, lanes / unit.n)};
  const Tiled k = TileOf(s, loops[2], unit.k, steps, {.innermost = options.max_reduction}, "k");
  const Tiled n = TileOf(s, loops[1], unit.n, rows, tile, "n");
  tile.within = n.factors;
  const Tiled m = TileOf(s, loops[0], unit.m, rows, tile, "m");
  std::vector<Loop> order;
  Loop before_inner = {};
  size_t spatial = 0, reduction = 0;
  for (const char kind : levels) {
    if (kind == 'R' && !order.empty()) before_inner = order.back();
    if (kind == 'R') order.push_back(k.levels[reduction++]);
    if (kind == 'S') order.insert(order.end(), {m.levels[spatial], n.levels[spatial]}), ++spatial;
  }
  order.insert(order.end(), {m.tile, n.tile, k.tile});
  s.Reorder(order);
  s.Unroll(m.levels.back()), s.Unroll(n.levels.back());
  const Storage sums = unit.result == Storage::kGlobal ? Storage::kStack : unit.result;
  const Block combine = s.AccumulateAt(block, before_inner, ToString(sums));
  const std::vector<Loop> result = s.GetLoops(combine);
  s.Unroll(result[result.size() - 2]);
  s.Vectorize(result.back());
  if (packed) {
    s.ComputeAt(s.CacheRead(block, 1), k.levels[0]);
    if (unit.k > 1)
      s.TransformLayout(block, 1, "(d0, d1) -> (d0/$0, d1, d0%$0)", std::vector<Factor>{unit.k});
  }
  s.Tensorize(s.Blockize(m.tile), unit.compute);
}

}  // namespace

BlockModule MultiLevelTilingWithIntrinsic(TilingWithIntrinsicOptions options) {
  return {"multi-level-tiling-with-intrinsic", [options](Schedule& s, Block block) {
            if (!s.ok() || s.Declines(CheckUntouched(s.program(), s.node(block)))) return;
            auto fits = MatchContraction(s.program(), s.node(block), s.target().matrix_intrinsics());
            std::erase_if(fits, [&](auto* unit) { return !absl::StartsWith(unit->name, options.family); });
            if (fits.empty()) {
              s.Declines(absl::FailedPreconditionError("no intrinsic of the target does what it does"));
            } else if (const int pick = s.Choose("intrinsic", 1 + static_cast<int>(fits.size())); pick > 0) {
              TileWithIntrinsic(s, block, *fits[pick - 1], options);
            }
          }};
}

KILN_MODULE("multi-level-tiling-with-intrinsic", MultiLevelTilingWithIntrinsic,
            Option("family", &TilingWithIntrinsicOptions::family),
            Option("structure", &TilingWithIntrinsicOptions::structure));

}  // namespace kiln
