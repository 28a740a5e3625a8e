// Recognizes sums of products in which most terms are zero if the data are finite, because a factor has zeros
// between its elements, or around a single one. Transposed convolutions insert such zeros into their input.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "lang/program/program.h"

namespace kiln {

// Two iters, h spatial and i a reduction, whose sum h + i (plus a constant) indexes a dimension of a factor that is
// mostly zero. Of each `step` consecutive values of i, only the one with i % step == `term` may give a nonzero term.
struct ZeroTerms {
  int h = 0, i = 0;  // positions of the iters; their extents are multiples of step
  int64_t step = 0;
  IndexSum term;  // as a function of h % step, which is Iter(0)
};

// Returns, for each iter of the block, the ZeroTerms that it is the h or the i of, or nullopt. kFailedPrecondition,
// with what the block lacks, if no iter has any or the block is no contraction.
absl::StatusOr<std::vector<std::optional<ZeroTerms>>> FindZeroTerms(const Program& program, Id block);

}  // namespace kiln
