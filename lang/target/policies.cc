#include "lang/target/policies.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lang/base/unknown_name.h"

namespace kiln {
namespace {

using P = Policy;

constexpr PolicyRow kRows[] = {
    {P::kMergeDims, "merge-dims", "dimensions that are always walked together become one", "0011"},
    {P::kForwardCopies, "forward-copies", "results are written in the shape in which they are wanted",
     "0011"},
    {P::kDensifyStridedReads, "densify-strided-reads",
     "what a reduction reads in steps is copied side by side", "0011"},
    {P::kSkipZeros, "skip-zeros", "the zeros between the elements of a transposed convolution are left out",
     "0017"},
    {P::kDropPaddedTerms, "drop-padded-terms",
     "convolutions assume finite data, so that terms of padding may be dropped", "0017"},
    {P::kNonTemporalStores, "non-temporal-stores", "large results may be stored past the caches", "0015"},
    {P::kRowBlocking, "row-blocking", "what is made of rows is computed for a few rows at a time", ""},
    {P::kVectorizeRows, "vectorize-rows", "reductions of rows keep partial results in lanes", ""},
    {P::kVectorAxis, "vector-axis", "vectors may go along another dimension than the last", "0007"},
    {P::kGroupedLanes, "grouped-lanes", "an index made of groups and channels steps by its channels", "0017"},
    {P::kNchwcLayout, "nchwc-layout", "stages of a convolution keep channels in blocks", "0016"},
    {P::kRfactorLanes, "rfactor-lanes", "matrix times vector keeps partial results in lanes", ""},
    {P::kPaddedPairs, "padded-pairs", "padded lanes fill pairs of vectors", "0007"},
    {P::kInnermostWindow, "innermost-window", "the last window of a convolution is the innermost reduction",
     "0007"},
    {P::kInlinedConstants, "inlined-constants", "constants that are read permuted are inlined", "0017"},
    {P::kTransposingTiles, "transposing-tiles", "copies that transpose are vectorized in square tiles",
     "0016"},
    {P::kDroppableTerms, "droppable-terms", "terms that are zero beyond bounds are skipped, not computed",
     "0017"},
    {P::kBoundaryVersions, "boundary-versions", "tiles at the edges of an image have code of their own",
     "0017"},
    {P::kShortLoops, "short-loops", "short loops are written out", "0012"},
    {P::kPrefetchStreams, "prefetch-streams", "costly rows prefetch the next row", "0015"},
    {P::kPrefetchResults, "prefetch-results", "the tile of the result is fetched before the sums", "0007"},
    {P::kPrefetchPanels, "prefetch-panels", "tiles fetch the next panel in parts", "0007"},
    {P::kTransposedStores, "transposed-stores", "lanes that lie apart are transposed before they are stored",
     "0016"},
    {P::kWholeVectors, "whole-vectors",
     "lanes that fill no power of two of vectors are emitted by the vector", "0007"},
    {P::kRematerializedLoads, "rematerialized-loads", "loops load again what has no registers", "0007"},
    {P::kShortExtrema, "short-extrema", "maxima with NaN take fewer instructions", "0021"},
    {P::kPowerTables, "power-tables", "with AVX-512, exp and powf read tables in registers", ""},
};

}  // namespace

absl::Span<const PolicyRow> PolicyRows() { return kRows; }

absl::StatusOr<Policies> Policies::Without(absl::string_view names) {
  Policies policies;
  for (const absl::string_view part : absl::StrSplit(names, ',', absl::SkipEmpty())) {
    const absl::string_view name = absl::StripAsciiWhitespace(part);
    const auto* row =
        std::find_if(std::begin(kRows), std::end(kRows), [&](const PolicyRow& r) { return r.name == name; });
    if (row == std::end(kRows)) {
      std::vector<absl::string_view> known;
      for (const PolicyRow& r : kRows) known.push_back(r.name);
      return absl::InvalidArgumentError(UnknownName("policy", name, known));
    }
    policies.SwitchOff(row->policy);
  }
  return policies;
}

std::string Policies::WithoutText() const {
  std::vector<absl::string_view> names;
  for (const PolicyRow& row : kRows)
    if (!Has(row.policy)) names.push_back(row.name);
  return absl::StrJoin(names, ",");
}

}  // namespace kiln
