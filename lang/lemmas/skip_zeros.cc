// skip-zeros, a lemma
//
//   Z[y] = (y % 2 = 0 && y/2 < 8 ? X[y/2] : 0)
//   for h in 0..16: for i in 0..4: C[h] sum= Z[h + i] * W[i]
//   ->
//   for hq in 0..8: for hr in 0..2: for iq in 0..2: C[2*hq + hr] sum= Z[2*hq + 2*iq + 2*hr] * W[2*iq + hr]
//
// If Z's elements are read often, they are first copied next to each other (lang/graph/densify_strided_reads.h).
//
// The identity: a term whose factor Z is zero adds nothing to a sum. Of each two consecutive terms (s for stride s)
// only one has an element of X as Z, and h % 2 (h % s) decides which one. The input of a transposed convolution is such
// a Z: with stride 2 in two dimensions, three quarters of its terms are dropped. The result is exact for finite
// factors, up to the order of the remaining terms. If W is infinite or NaN, the original's 0 * W is NaN, and the result
// lacks it. The block must be alone in its nest, and the extents of h and i must be multiples of the stride.
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/legality.h"
#include "lang/analysis/placement.h"
#include "lang/graph/densify_strided_reads.h"
#include "lang/patterns/zero_terms.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

struct NewIters {
  std::vector<Iter> iters;
  std::vector<int64_t> extents;
  std::vector<IndexSum> was;  // the old iters in terms of the new ones

  IndexSum Add(Iter iter, int64_t extent) {
    iter.extent = Extent(extent);
    iters.push_back(iter);
    extents.push_back(extent);
    return IndexSum::Of(Source::Iter(static_cast<int32_t>(iters.size()) - 1));
  }
};

// Divides the iters h and i of each entry of `terms` by the distance of the non-zero elements (its step). The remainder
// of h becomes an iter of its own; the remainder of i follows from it. `terms` has an entry for each iter, nullopt for
// none.
NewIters DivideIters(Program& p, const std::vector<Iter>& iters,
                     const std::vector<std::optional<ZeroTerms>>& terms) {
  NewIters now;
  now.was.resize(iters.size());
  std::vector<IndexSum> remainder(iters.size());
  for (size_t i = 0; i < iters.size(); ++i) {
    const int64_t step = terms[i].has_value() ? terms[i]->step : 1;
    now.was[i] = now.Add(iters[i], iters[i].extent.Known() / step) * step;
    if (!terms[i].has_value() || terms[i]->h != static_cast<int>(i)) continue;
    Iter rest = iters[i];
    rest.name = p.AddName(absl::StrCat(p.Text(rest.name), ".r"));
    remainder[i] = now.Add(rest, step);
    now.was[i] = now.was[i] + remainder[i];
  }
  for (size_t i = 0; i < iters.size(); ++i) {
    if (!terms[i].has_value() || terms[i]->i != static_cast<int>(i)) continue;
    now.was[i].offset += terms[i]->term.offset;
    for (const IndexSplit& split : terms[i]->term.splits)
      now.was[i] = now.was[i] + remainder[terms[i]->h] * split.scale;
  }
  return now;
}

absl::Status CheckIndices(const Program& p, const BlockNode& block, const NewIters& now) {
  for (const Range list : {block.values, block.initial}) {
    for (const Id body : p.List(list)) {
      if (!CanSubstitute(p, body, [&](int i) { return now.was[i]; }, now.extents))
        return No("an index that divides one of the iters");
    }
  }
  return absl::OkStatus();
}

// Returns the block with the new iters: its values, initial values and indices rewritten for them. The iters are not
// yet bound.
BlockNode Rewritten(Program& p, Id block, const NewIters& iters) {
  const BlockNode old = p.block(block);
  const Access dest = p.Accesses(old.dests)[0];
  BodyRewriter rewriter(p, nullptr, [&](int i) { return iters.was[i]; }, iters.extents);
  BlockNode now = old;
  now.iters = {static_cast<int32_t>(p.iters.size()), static_cast<int32_t>(iters.iters.size())};
  now.values = rewriter.Expressions(old.values);
  if (old.initial.count != 0) now.initial = rewriter.Expressions(old.initial);
  std::vector<int32_t> index;
  for (int d = 0; d < dest.index.count; ++d) index.push_back(rewriter.Index(p.lists[dest.index.begin + d]));
  const Range written = p.AddList(index);
  now.dests = {static_cast<int32_t>(p.accesses.size()), 1};
  now.provenance = {Provenance::Kind::kCompute, block, {}};
  p.accesses.push_back({dest.buffer, written});
  p.iters.insert(p.iters.end(), iters.iters.begin(), iters.iters.end());
  return now;
}

absl::Status SkipZeros(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0);
  const auto found = FindZeroTerms(p, block);
  if (!found.ok()) return found.status();
  if (BlocksBelow(p, NestOf(p, block)).size() != 1) return No("other blocks are in the same nest");
  if (p.block(block).domain.count != 0) return No("its instances are not a box");
  const auto iters = p.Iters(p.block(block).iters);
  const NewIters divided = DivideIters(p, {iters.begin(), iters.end()}, *found);
  if (absl::Status status = CheckIndices(p, p.block(block), divided); !status.ok()) return status;
  const BlockNode now = Rewritten(p, block, divided);

  const Id nest = NestOf(p, block), place = p.AddLoop("place", Extent(1));
  p.InsertBefore(nest, place);
  RemoveWithEmptyLoops(p, block);
  p.block(block) = now;
  p.Replace(place, NestOver(p, block, WholeRanges(p, block), false));
  DensifyStridedReads(p, block, call.target().costs);
  return absl::OkStatus();
}

const Primitive kSkipZeros{
    .name = "skip-zeros",
    .operands = {{"block", OperandKind::kBlock}},
    .attributes = {},
    .result = HandleKind::kBlock,
    .result_names = "",
    .lemma = true,
    .doc =
        "Leaves out the terms of a sum of products in which a factor is a zero between elements, as in a "
        "transposed convolution. The remainder that selects the remaining terms becomes a separate iter. "
        "A lemma: later steps must preserve its result.\n"
        "for y: Z[y] = (y % 2 = 0 && y/2 < 8 ? X[y/2] : 0)\n"
        "for h in 0..16: for i in 0..4: C[h] sum= Z[h + i] * W[i]\n->\n"
        "for h in 0..8: for h.r in 0..2: for i in 0..2: C[2*h + h.r] sum= Z[2*h + 2*i + 2*h.r] * W[2*i + "
        "h.r]\n"
        "The remaining reads of Z are two elements apart. If each element is read at least 16 times, "
        "they are first copied next to each other.\n"
        "Does not apply after a step that transforms the program, or if no factor is such a buffer. A "
        "spatial and a reduction iter must walk along it, and their extents must be multiples of the "
        "distance between elements.",
    .apply = SkipZeros,
    .assumes = kFiniteFactors,
};
KILN_PRIMITIVE(kSkipZeros);

}  // namespace
}  // namespace kiln
