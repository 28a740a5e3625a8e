// tensorize
//
//   block C.tile(i, j, k):                             block C.tile(i, j, k) is a call of fma:
//     for a in 0..4: for b in 0..8: for c in 0..1:       unrolled x in 0..4: vectorized y in 0..8:
//       C[i*4+a, j*8+b] sum= ...                  ->       C[i*4+x, j*8+y] sum= ...
//
// The block's children become the loops of the intrinsic's description. They define the meaning of the call.
#include "absl/strings/str_cat.h"
#include "lang/analysis/bindings.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/base/defect.h"
#include "lang/base/unknown_name.h"
#include "lang/patterns/match.h"
#include "lang/schedule/primitive.h"

namespace kiln {
namespace {

absl::Status CheckAround(const Program& p, Id tile, const Program& description) {
  for (const Id wanted : LoopsOf(description)) {
    if (description.loop(wanted).kind != LoopKind::kVectorized) continue;
    for (const Id loop : LoopsAround(p, tile)) {
      if (p.loop(loop).kind != LoopKind::kVectorized) continue;
      return absl::FailedPreconditionError(
          absl::StrCat(Describe(p, loop), " around is vectorized, and the intrinsic's loops are too"));
    }
  }
  return absl::OkStatus();
}

absl::Status Tensorize(Call& call) {
  Program& p = call.program();
  const Id tile = call.node(0);
  const Intrinsic* const intrinsic = FindIntrinsic(call.Text(0));
  if (intrinsic == nullptr) {
    std::vector<absl::string_view> known;
    for (const Intrinsic* each : AllIntrinsics()) known.push_back(each->name);
    return absl::InvalidArgumentError(UnknownName("intrinsic", call.Text(0), known));
  }
  if (p.block(tile).intrinsic != kNone || p.block(tile).dests.count != 0 || p.nodes[tile].first == kNone) {
    return absl::FailedPreconditionError(absl::StrCat(
        Describe(p, tile), p.block(tile).intrinsic != kNone
                               ? absl::StrCat(" is a call of ", p.Text(p.block(tile).intrinsic), " already")
                               : " is not a tile: blockize a loop first"));
  }
  const Program& description = DescriptionOf(*intrinsic);
  const absl::Status around = CheckAround(p, tile, description);
  if (!around.ok()) return around;
  const absl::StatusOr<IntrinsicMatch> match = MatchIntrinsic(p, tile, *intrinsic);
  if (!match.ok()) return match.status();

  const BlockNode& described = description.block(BlockOf(description));
  const Range own = p.block(match->block).iters;
  std::vector<IndexSum> bindings;
  for (const TilePart& part : match->tile.parts)
    bindings.push_back(part.outer * (KILN_DEFECT("tensorize.tile") ? 1 : part.tile));
  Id parent = tile;
  const Id old = p.nodes[tile].first;
  for (const Id wanted : LoopsOf(description)) {
    const LoopNode& source = description.loop(wanted);
    const Id loop = p.AddLoop(description.Text(source.name), source.extent, source.kind);
    p.Append(parent, loop);
    parent = loop;
    for (int i = 0; i < described.iters.count; ++i) {
      const IndexSum bound = description.SumOf(description.Iters(described.iters)[i].binding);
      const int iter = match->iter_of[i];
      if (iter >= 0 && bound == IndexSum::Of(Source::Loop(wanted)))
        bindings[iter] = bindings[iter] + IndexSum::Of(Source::Loop(loop));
    }
  }
  std::vector<Id> gone;
  for (Id at = old; p.IsLoop(at); at = p.nodes[at].first) gone.push_back(at);
  p.Detach(match->block);
  for (size_t i = gone.size(); i-- > 0;) p.Kill(gone[i]);
  p.Append(parent, match->block);
  for (int i = 0; i < own.count; ++i) {
    const Extent extent = p.iters[own.begin + i].extent;
    const Id binding = p.AddMark(bindings[i], extent);
    p.iters[own.begin + i].binding = binding;
  }
  const Id name = p.Intern(intrinsic->name);
  p.block(tile).intrinsic = name;
  return absl::OkStatus();
}

const Primitive kTensorize{
    .name = "tensorize",
    .operands = {{"tile", OperandKind::kBlock}},
    .attributes = {{"intrinsic", std::string()}},
    .result = HandleKind::kBlock,
    .result_names = "",
    .doc =
        "Turns a tile into a call of an intrinsic. The blocks in the tile stay, with the loops of the "
        "intrinsic's description: they define the meaning of the call.\n"
        "block C.tile(i): for a in 0..2: for b in 0..4: C[i*4 + b] sum= f(a, b)\n->\n"
        "block C.tile(i), a call: unrolled x in 0..4: unrolled y in 0..2: C[i*4 + x] sum= f(y, x)\n"
        "Does not apply if the tile differs from the description in its sizes, in its computation, or in "
        "the dtypes, strides, storages or layouts of its operands, or if some of its instances may not "
        "exist.",
    .apply = Tensorize,
};
KILN_PRIMITIVE(kTensorize);

}  // namespace
}  // namespace kiln
