// Draws traces that make kernels of threads, and says what a run of them must reach (kiln_fuzz --gpu).
//
//   Session session = DrawKernels(program, seed, trace, &coverage);
//   CountKernels(session.state().program, coverage);
#pragma once

#include "absl/types/span.h"
#include "tests/fuzz/session.h"

namespace kiln::fuzz {

// Draws a trace for FuzzTarget(). It takes random steps, tiles some blocks as schedules by hand do, takes more random
// steps, and binds the nests that are on no axis yet (bind-rest). Steps in `favored` are drawn more often; if it is
// empty, those that make kernels. A trace whose threads a plan cannot order is drawn anew, a few times.
Session DrawKernels(const Program& program, uint64_t seed, int trace, Coverage* coverage,
                    absl::Span<const Primitive* const> favored = {});

// Counts what the kernels of a scheduled program have.
void CountKernels(const Program& now, Coverage* coverage);

// A class of pairs, and the least share of all pairs that a run must have of it.
struct LeastShare {
  const char* what;
  double share;
};
absl::Span<const LeastShare> KernelShares();

}  // namespace kiln::fuzz
