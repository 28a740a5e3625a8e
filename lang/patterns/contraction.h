// Contractions: sums of products whose iters are batch, m, n and k. What einsum makes products of matrices
// of.
//
//   C[b, m, n] sum= A[b, m, k] * B[b, k, n]
//
// A factor is a read, at any index, or one that is padded with a constant. Each of the four is any number of
// iters: of a convolution, m is (n, h, w), n the output channels, k (kh, kw, c).
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lang/patterns/intrinsic.h"
#include "lang/program/program.h"

namespace kiln {

struct Contraction {
  Id a = kNone, b = kNone;          // the factors, without casts around them
  std::vector<int> batch, m, n, k;  // iters of the block, in its order
};

// kFailedPrecondition with what makes it none.
absl::StatusOr<Contraction> AsContraction(const Program& program, Id block);

// The read of a factor, kNone if it is anything else.
Id LoadOfFactor(const Program& program, Id factor);

// The families whose compute does what a contraction's body does, whatever its sizes.
std::vector<const IntrinsicFamily*> MatchContraction(const Program& program, Id block,
                                                     absl::Span<const IntrinsicFamily* const> families);

}  // namespace kiln
