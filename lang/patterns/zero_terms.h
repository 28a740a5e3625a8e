// Sums of products some of whose terms are zero wherever the data are finite: a factor is a buffer that holds
// an element, then zeros, then the next element, as what a transposed convolution makes of its input.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/program/program.h"

namespace kiln {

// Two iters that walk along a dimension of such a factor, which is read at h + i + a constant: of `step`
// terms in a row of the reduction iter i one may be no zero, the one where i % step is `term`.
struct ZeroTerms {
  int h = 0, i = 0;  // positions of iters, whose extents are multiples of step
  int64_t step = 0;
  Sum term;  // over h % step as Iter(0)
};

// One entry for each iter of the block: h and i have theirs, the others none. kFailedPrecondition if no entry
// has any, with what the block lacks.
absl::StatusOr<std::vector<std::optional<ZeroTerms>>> FindZeroTerms(const Program& program, Id block);

}  // namespace kiln
