// Draws random traces that make kernels of GPU threads, and lists what a run of the fuzzer must reach with them
// (kiln_fuzz --gpu).
#pragma once

#include "absl/types/span.h"
#include "tests/fuzz/session.h"

namespace kiln::fuzz {

// Draws a trace for FuzzTarget(). It takes random steps, tiles some blocks as schedules by hand do, takes more random
// steps, and binds the nests that are on no axis yet (bind-rest). Steps in `favored` are drawn more often; if it is
// empty, those that make kernels. A trace whose threads a plan cannot order is drawn anew, a few times.
Session DrawKernels(const Program& program, uint64_t seed, int trace, Coverage* coverage,
                    absl::Span<const Primitive* const> favored = {});

// Counts, in `coverage`, the properties that a scheduled program's kernels have, such as pipelines, calls and shared
// memory.
void CountKernels(const Program& now, Coverage* coverage);

// A property of a program and its trace, and the smallest share of all pairs of a run that must have this property.
struct LeastShare {
  const char* what;
  double share;
};
absl::Span<const LeastShare> KernelShares();

}  // namespace kiln::fuzz
