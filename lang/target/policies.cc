#include "lang/target/policies.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lang/base/unknown_name.h"

namespace kiln {
namespace {

using P = Policy;

// The policies, with what each does. The second text of a row completes the sentence "While the policy is on, Kiln ..".
constexpr PolicyRow kRows[] = {
    {P::kMergeDims, "merge-dims", "merges neighboring dimensions that all accesses index together", "0011"},
    {P::kForwardCopies, "forward-copies",
     "removes copies that reshape a result: the producer writes the copy's result", "0011"},
    {P::kDensifyStridedReads, "densify-strided-reads",
     "copies operands that a reduction reads with a stride into contiguous buffers", "0011"},
    {P::kSkipZeros, "skip-zeros",
     "skips the zeros between the elements of the input of a transposed convolution", "0017"},
    {P::kDropPaddedTerms, "drop-padded-terms",
     "adds the lemma assume-finite to convolutions, so that terms of the padding may be dropped", "0017"},
    {P::kNonTemporalStores, "non-temporal-stores", "offers stores that bypass the caches for large results",
     "0015"},
    {P::kRowBlocking, "row-blocking", "computes a few rows of a row-wise operator at a time", ""},
    {P::kVectorizeRows, "vectorize-rows", "keeps partial results of row reductions in vector lanes", ""},
    {P::kVectorAxis, "vector-axis", "offers to vectorize another dimension of the result than the last",
     "0007"},
    {P::kGroupedLanes, "grouped-lanes",
     "packs panels along the channels of an index that combines groups and channels", "0017"},
    {P::kNchwcLayout, "nchwc-layout", "keeps channels of convolution stages in blocks (NCHWc)", "0016"},
    {P::kRfactorLanes, "rfactor-lanes", "offers partial results in vector lanes for a matrix times a vector",
     ""},
    {P::kPaddedPairs, "padded-pairs", "pads the vectorized loop to a multiple of two vectors", "0007"},
    {P::kInnermostWindow, "innermost-window",
     "makes the last window loop of a convolution the innermost reduction loop", "0007"},
    {P::kInlinedConstants, "inlined-constants", "inlines blocks that permute constants", "0017"},
    {P::kTransposingTiles, "transposing-tiles", "vectorizes copies that transpose in square tiles", "0016"},
    {P::kDroppableTerms, "droppable-terms", "skips terms that read padding, where assume-finite allows it",
     "0017"},
    {P::kBoundaryVersions, "boundary-versions",
     "emits a version of the code for the tiles at each edge of an image", "0017"},
    {P::kShortLoops, "short-loops", "unrolls short loops", "0012"},
    {P::kPrefetchStreams, "prefetch-streams",
     "prefetches what the next iteration loads and stores, if elements are costly to compute", "0015"},
    {P::kPrefetchResults, "prefetch-results",
     "prefetches the tile of the result before the loops that compute it", "0007"},
    {P::kPrefetchPanels, "prefetch-panels", "prefetches a part of the next panel in each tile", "0007"},
    {P::kTransposedStores, "transposed-stores",
     "transposes vectors in registers if their lanes are stored a constant distance apart", "0016"},
    {P::kWholeVectors, "whole-vectors",
     "emits one vector at a time if the lanes do not fill a power of two of vectors", "0007"},
    {P::kRematerializedLoads, "rematerialized-loads",
     "loads values again in each iteration if they do not fit in registers", "0007"},
    {P::kShortExtrema, "short-extrema", "computes maxima and minima that return NaN with fewer instructions",
     "0021"},
    {P::kPowerTables, "power-tables", "computes exp and powf with tables in registers (AVX-512)", ""},
    {P::kShareStorage, "share-storage", "lets temporaries share memory if they are not live at the same time",
     ""},
    {P::kFirstIteration, "first-iteration",
     "asks for the first iteration of a reduction outside of the loops that it does not depend on", ""},
    {P::kGuards, "guards",
     "decides conditions for whole loops and tiles, and calls instructions where they fit", ""},
    {P::kPrefetchNests, "prefetch-nests",
     "prefetches in the last iteration of a nest what the next nest reads first", "", true},
    {P::kFoldAffine, "fold-affine",
     "folds scales and shifts by constants, as of batch norm, into the weights beside them", "0025"},
    {P::kAssumeNumbers, "assume-numbers",
     "writes clips as maxima and minima, and leaves out the addition of zeros, whatever NaN and -0 become",
     "0025"},
    {P::kNarrowVariances, "narrow-variances",
     "takes variances of f32 values in f32 where the file takes them in f64", "0025"},
    {P::kChannelsLast, "channels-last", "puts the channels of a model's temporaries last", "0026", true},
};

std::string NameInLists(const PolicyRow& row) { return absl::StrCat(row.on_request ? "+" : "", row.name); }

}  // namespace

absl::Span<const PolicyRow> PolicyRows() { return kRows; }

bool Policies::Has(Policy policy) const {
  return IsSwitched(policy) == kRows[static_cast<int>(policy)].on_request;
}

absl::StatusOr<Policies> Policies::Without(absl::string_view names) {
  Policies policies;
  for (const absl::string_view part : absl::StrSplit(names, ',', absl::SkipEmpty())) {
    const absl::string_view name = absl::StripAsciiWhitespace(part);
    const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const PolicyRow& r) {
      return name == r.name || name == NameInLists(r);
    });
    if (row == std::end(kRows)) {
      std::vector<std::string> known;
      for (const PolicyRow& r : kRows) known.push_back(NameInLists(r));
      return absl::InvalidArgumentError(UnknownName("policy", name, known));
    }
    if (name == NameInLists(*row)) policies.Switch(row->policy);  // else it is off anyway
  }
  return policies;
}

std::string Policies::WithoutText() const {
  std::vector<std::string> names;
  for (const PolicyRow& row : kRows)
    if (IsSwitched(row.policy)) names.push_back(NameInLists(row));
  return absl::StrJoin(names, ",");
}

}  // namespace kiln
