// Recognizes contractions: sums of products whose iters are divided into batch, m, n and k. The primitive
// einsum turns them into matrix products.
//
//   C[b, m, n] sum= A[b, m, k] * B[b, k, n]
//
// A factor is a read at any index, or such a read padded with a constant. Each of the four may be several
// iters: for a convolution, m is (n, h, w), n is the output channels and k is (kh, kw, c).
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lang/patterns/intrinsic.h"
#include "lang/program/program.h"

namespace kiln {

struct Contraction {
  Id a = kNone, b = kNone;          // the factors without their casts
  std::vector<int> batch, m, n, k;  // iters of the block, in the block's order
};

// Returns the factors of a block that sums products of two different reads, and its iters divided into batch (spatial,
// in both factors), n (in the second alone), m (other spatial iters) and k (reductions). Returns kFailedPrecondition,
// with the reason, for other blocks, and if the block has initial values or domain marks. Each index of the result must
// be a constant, or an iter plus a constant that no other index has. Each iter with several values must be in the
// result and a factor if it is spatial, and in both factors but not the result if it is a reduction.
absl::StatusOr<Contraction> AsContraction(const Program& program, Id block);

// Returns the load in a factor: the factor itself, or the load that paddings with constants (kWithin) are around.
// Returns kNone for any other expression.
Id LoadOfFactor(const Program& program, Id factor);

// Returns those intrinsic families whose instruction computes the operations of the block's body, of the same dtypes.
// Does not compare sizes. Returns none if the block is no contraction.
std::vector<const IntrinsicFamily*> MatchContraction(const Program& program, Id block,
                                                     absl::Span<const IntrinsicFamily* const> families);

}  // namespace kiln
