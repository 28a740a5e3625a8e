// skip-zeros, a lemma
//
//   Z[y] = (y % 2 = 0 && y/2 < 8 ? X[y/2] : 0)
//   for h in 0..16: for i in 0..4: C[h] sum= Z[h + i] * W[i]
//   ->
//   for hq in 0..8: for hr in 0..2: for iq in 0..2: C[2*hq + hr] sum= Z[2*hq + 2*iq + 2*hr] * W[2*iq + hr]
//
// Where Z's elements are read often, they are copied together first (lang/graph/dense_reads.h).
//
// The identity: a term whose factor Z is zero adds nothing to a sum, so that of s terms in a row the one
// whose Z is an element of X is enough; which one that is depends on h % s alone. What a transposed
// convolution makes of its input is such a Z, and three quarters of its terms go. Exact, the order of the
// others aside, for finite factors; where W is infinite or NaN the original's 0 * W is NaN, and the result's
// sum is without it.
#include "absl/strings/str_cat.h"
#include "lang/analysis/dataflow.h"
#include "lang/analysis/placement.h"
#include "lang/analysis/restrictions.h"
#include "lang/graph/dense_reads.h"
#include "lang/patterns/zero_terms.h"
#include "lang/schedule/primitive.h"
#include "lang/schedule/rewrite.h"

namespace kiln {
namespace {

absl::Status No(const std::string& why) { return absl::FailedPreconditionError(why); }

absl::Status SkipZeros(Call& call) {
  Program& p = call.program();
  const Id block = call.node(0);
  const auto found = FindZeroTerms(p, block);
  if (!found.ok()) return found.status();
  const auto& of = *found;
  const BlockNode old = p.block(block);
  if (BlocksBelow(p, NestOf(p, block)).size() != 1) return No("other blocks are in the same nest");
  if (old.domain.count != 0) return No("its instances are no box");
  const auto given = p.Iters(old.iters);
  const std::vector<Iter> iters(given.begin(), given.end());

  // What each iter was, in terms of those that are made; the remainders of h are iters of their own.
  std::vector<Iter> made;
  std::vector<int64_t> extents;
  std::vector<Sum> was(iters.size()), remainder(iters.size());
  const auto add = [&](Iter iter, int64_t extent) {
    iter.extent = Extent(extent);
    made.push_back(iter);
    extents.push_back(extent);
    return Source::Iter(static_cast<int32_t>(made.size()) - 1);
  };
  for (size_t i = 0; i < iters.size(); ++i) {
    const int64_t step = of[i].has_value() ? of[i]->step : 1;
    was[i] = Sum::Of(add(iters[i], iters[i].extent.Known() / step), step);
    if (!of[i].has_value() || of[i]->h != static_cast<int>(i)) continue;
    Iter rest = iters[i];
    rest.name = p.AddName(absl::StrCat(p.Text(rest.name), ".r"));
    remainder[i] = Sum::Of(add(rest, step));
    was[i] = was[i] + remainder[i];
  }
  for (size_t i = 0; i < iters.size(); ++i) {
    if (!of[i].has_value() || of[i]->i != static_cast<int>(i)) continue;
    was[i].offset += of[i]->term.offset;
    for (const kiln::Split& split : of[i]->term.splits) was[i] = was[i] + remainder[of[i]->h] * split.scale;
  }

  const auto rule = [&](int i) { return was[i]; };
  const Access dest = p.Accesses(old.dests)[0];
  const auto listed = p.List(old.values);
  std::vector<Id> bodies(listed.begin(), listed.end());
  for (const Id value : p.List(old.initial)) bodies.push_back(value);
  for (const Id body : bodies) {
    if (!CanSubstitute(p, body, rule, extents)) return No("an index that divides one of the iters");
  }
  BodyRewriter rewriter(p, nullptr, rule, extents);
  const auto rewritten = [&](Range list, auto rewrite) {
    std::vector<int32_t> now;
    for (int k = 0; k < list.count; ++k) now.push_back(rewrite(p.lists[list.begin + k]));
    return p.AddList(now);
  };
  const auto body = [&](Id expr) { return rewriter.Expression(expr); };
  BlockNode now = old;
  now.iters = {static_cast<int32_t>(p.iters.size()), static_cast<int32_t>(made.size())};
  now.values = rewritten(old.values, body);
  if (old.initial.count != 0) now.initial = rewritten(old.initial, body);
  const Range index = rewritten(dest.index, [&](Id mark) { return rewriter.Index(mark); });
  now.dests = {static_cast<int32_t>(p.accesses.size()), 1};
  now.provenance = {Provenance::Kind::kCompute, block, {}};
  p.accesses.push_back({dest.buffer, index});
  p.iters.insert(p.iters.end(), made.begin(), made.end());

  const Id nest = NestOf(p, block), place = p.AddLoop("place", Extent(1));
  p.InsertBefore(nest, place);
  RemoveWithEmptyLoops(p, block);
  p.block(block) = now;
  p.Replace(place, NestOver(p, block, WholeRanges(p, block), false));
  ReadDensely(p, block);
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
        "Leaves out the terms of a sum of products in which a factor is a zero between elements, as a "
        "transposed convolution has them. The remainder that tells which terms stay becomes an iter of its "
        "own. A lemma: what it makes is what later steps must keep.\n"
        "for y: Z[y] = (y % 2 = 0 && y/2 < 8 ? X[y/2] : 0)\n"
        "for h in 0..16: for i in 0..4: C[h] sum= Z[h + i] * W[i]\n->\n"
        "for h in 0..8: for h.r in 0..2: for i in 0..2: "
        "C[2*h + h.r] sum= Z[2*h + 2*i + 2*h.r] * W[2*i + h.r]\n"
        "What it still reads of Z, two apart, is copied together first where each element is read 16 times.\n"
        "Does not apply after a step that transforms the program, or when no factor is such a buffer, "
        "walked along by a spatial and a reduction iter whose extents are multiples of the distance.",
    .apply = SkipZeros,
};
KILN_PRIMITIVE(kSkipZeros);

}  // namespace
}  // namespace kiln
