#include "lang/patterns/zero_terms.h"

#include "absl/types/span.h"
#include "lang/analysis/dataflow.h"
#include "lang/patterns/contraction.h"

namespace kiln {
namespace {

constexpr int64_t kOnce = -1;

// Which elements of a dimension may be nonzero: those at position `at` of every `step` elements. If step is kOnce, only
// the element `at`; if it is 0, all elements.
struct Comb {
  int64_t step = 0, at = 0;
};

// Returns, for each dimension of the buffer, which elements its only writer may make nonzero: it stores a value within
// conditions such as h % 2 == 0 and 0 elsewhere. A dimension without such a condition gets step 0: all may be nonzero.
std::vector<Comb> CombsOf(const Program& p, Id buffer) {
  std::vector<Comb> combs(p.Dims(p.buffers[buffer].shape).size());
  const std::vector<Id> writers = Writers(p, buffer);
  if (writers.size() != 1) return combs;
  const BlockNode& b = p.block(writers[0]);
  if (b.monoid != kNone || b.dests.count != 1 || b.domain.count != 0) return combs;
  const Expr& body = p.exprs[p.List(b.values)[0]];
  if (body.op != Op::kWithin || !p.exprs[body.AsWithin().otherwise].IsConstant(0)) return combs;
  const Range index = p.Accesses(b.dests)[0].index;
  for (const Id bound : p.List(body.AsWithin().marks)) {
    const IndexSum sum = p.SumOf(bound);
    if (p.marks[bound].extent.Known() != 1 || sum.splits.size() != 1) continue;
    const IndexSplit& split = sum.splits[0];
    if (split.scale != 1 || split.lower != 1 || split.extent == 1 || sum.offset > 0) continue;
    const Comb comb{split.extent == 0 ? kOnce : split.extent, -sum.offset};
    for (int d = 0; d < index.count; ++d) {
      if (p.SumOf(p.List(index)[d]) == IndexSum::Of(split.source)) combs[d] = comb;
    }
  }
  return combs;
}

std::optional<ZeroTerms> TermsOf(const IndexSum& index, const Comb& comb, absl::Span<const Iter> iters) {
  if (comb.step == 0 || index.splits.size() != 2) return std::nullopt;
  ZeroTerms terms{-1, -1, comb.step, {}};
  const auto extent = [&](int iter) { return iters[iter].extent.Known(); };
  for (const IndexSplit& split : index.splits) {
    if (!(split == IndexSplit{split.source})) return std::nullopt;
    if (comb.step != kOnce && extent(split.source.id) % comb.step != 0) return std::nullopt;
    (iters[split.source.id].kind == IterKind::kSpatial ? terms.h : terms.i) = split.source.id;
  }
  if (terms.h < 0 || terms.i < 0) return std::nullopt;
  const int64_t sum = comb.at - index.offset;  // h + i, up to multiples of the step
  if (comb.step == kOnce) {
    // Treats a single nonzero element like one of every n, if h and i both take n values and h + i = n - 1 reaches it:
    // then, too, each h has exactly one i. Otherwise gives up.
    terms.step = extent(terms.h);
    if (terms.step < 2 || extent(terms.i) != terms.step || sum != terms.step - 1) return std::nullopt;
  }
  const int64_t rest = (sum % terms.step + terms.step) % terms.step;
  const IndexSum remainder = IndexSum::Of(Source::Iter(0));
  if (rest == terms.step - 1) {
    terms.term = IndexSum::Constant(rest) + remainder * -1;
  } else if (terms.step == 2) {
    terms.term = remainder;
  } else {
    return std::nullopt;
  }
  return terms;
}

}  // namespace

absl::StatusOr<std::vector<std::optional<ZeroTerms>>> FindZeroTerms(const Program& p, Id block) {
  const absl::StatusOr<Contraction> contraction = AsContraction(p, block);
  if (!contraction.ok()) return contraction.status();
  std::vector<std::optional<ZeroTerms>> of(p.block(block).iters.count);
  bool found = false;
  for (const Id factor : {contraction->a, contraction->b}) {
    const Id load = LoadOfFactor(p, factor);
    if (load == kNone) continue;
    const Expr& e = p.exprs[load];
    const std::vector<Comb> combs = CombsOf(p, e.AsLoad().buffer);
    for (size_t d = 0; d < combs.size(); ++d) {
      const auto terms =
          TermsOf(p.SumOf(p.List(e.AsLoad().index)[d]), combs[d], p.Iters(p.block(block).iters));
      if (!terms.has_value() || of[terms->h].has_value() || of[terms->i].has_value()) continue;
      of[terms->h] = of[terms->i] = terms;
      found = true;
    }
  }
  if (found) return of;
  return absl::FailedPreconditionError(
      "no factor is zero but for one element of several in a row, in a dimension that a spatial and a "
      "reduction iter walk along, both a multiple of the distance long");
}

}  // namespace kiln
