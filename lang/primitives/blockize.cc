// blockize
//
//   for io: for jo:                          for io: for jo:
//     for ii in 0..4: for ji in 0..8:          block C.tile(i = io, j = jo):
//       C[io*4 + ii, jo*8 + ji] = ..   ->        for ii in 0..4: for ji in 0..8:
//                                                  C[i*4 + ii, j*8 + ji] = ..
//
// The new outer block has one iter for each of the block's iters that loops outside the tile feed. These
// iters select the tile.
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/analysis/tile.h"
#include "lang/base/defect.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

absl::StatusOr<Id> OnlyBlock(const Program& p, Id loop) {
  Id at = loop;
  while (p.IsLoop(at)) {
    if (p.nodes[at].first != p.nodes[at].last) {
      return absl::FailedPreconditionError(absl::StrCat(
          Describe(p, at), " has several children; ", Describe(p, loop), " must be around one block alone"));
    }
    at = p.nodes[at].first;
  }
  return at;
}

// Adds each guard to the sum as a mark with scale 0. This does not change the value, but an instance exists only if the
// mark lies in its extent.
IndexSum With(Program& p, IndexSum sum, const std::vector<Guard>& guards) {
  for (const Guard& guard : guards)
    sum.splits.push_back({Source::Mark(p.AddMark(guard.value, guard.extent)), 0});
  return sum;
}

absl::Status Blockize(Call& call) {
  Program& p = call.program();
  const Id loop = call.node(0);
  const absl::StatusOr<Id> block = OnlyBlock(p, loop);
  if (!block.ok()) return block.status();
  const absl::StatusOr<Tile> tile = TileBelow(p, *block, loop);
  if (!tile.ok()) return tile.status();

  BlockNode around;
  around.name = p.AddName(p.FreshName(absl::StrCat(p.Text(p.block(*block).name), ".tile")));
  std::vector<Iter> iters;
  const Range own = p.block(*block).iters;
  for (int i = 0; i < own.count; ++i) {
    const TilePart& part = tile->parts[i];
    Iter iter = p.iters[own.begin + i];
    IndexSum inner = part.inner;
    if (!part.outer.splits.empty() || part.outer.offset != 0 || !part.outside.empty()) {
      const Extent extent = (iter.extent.Known() + part.tile - 1) / part.tile;
      inner = inner + IndexSum::Of(Source::Iter(static_cast<int32_t>(iters.size())),
                                   part.tile + (KILN_DEFECT("blockize.stride") && part.tile > 1));
      const IndexSum outer = KILN_DEFECT("blockize.guard") ? part.outer : With(p, part.outer, part.outside);
      const IterKind kind = KILN_DEFECT("blockize.kind") ? IterKind::kSpatial : iter.kind;
      iters.push_back({iter.name, extent, kind, p.AddMark(outer, extent)});
    }
    p.iters[own.begin + i].binding = p.AddMark(With(p, inner, part.inside), iter.extent);
  }
  around.iters = {static_cast<int32_t>(p.iters.size()), static_cast<int32_t>(iters.size())};
  p.iters.insert(p.iters.end(), iters.begin(), iters.end());
  const Id node = p.AddBlock(around);
  p.Replace(loop, node);
  p.Append(node, loop);
  call.Return(node);
  return absl::OkStatus();
}

const Primitive kBlockize{
    .name = "blockize",
    .operands = {{"loop", OperandKind::kLoop}},
    .attributes = {},
    .result = HandleKind::kBlock,
    .result_names = "tile",
    .doc =
        "Encloses a loop and everything below it in a new block, a tile. The iters of the new block "
        "number the tiles. The inner block keeps its handle.\n"
        "for io: for ii in 0..4: C[io*4 + ii] = f(io*4 + ii)\n->\n"
        "for io: block C.tile(i = io): for ii in 0..4: C[i*4 + ii] = f(i*4 + ii)\n"
        "Does not apply if several blocks are below the loop, if an iter is not a multiple of the tile "
        "plus an offset in it, or if a tile is imperfect.",
    .apply = Blockize,
};
KILN_PRIMITIVE(kBlockize);

}  // namespace
}  // namespace kiln
