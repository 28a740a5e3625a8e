// Draws programs from the prior of a space until one may be measured.
#pragma once

#include <vector>

#include "search/sampler/chain.h"
#include "search/thread_pool.h"

namespace kiln {

// Draws programs from the prior, at most 100, until one may be measured, and returns it. The first draw is from
// `sketch`, so that callers can give each sketch the same number of draws; the others are from any sketch. Returns
// kFailedPrecondition, with the last reason, if no drawn program may be measured.
absl::StatusOr<Point> DrawValid(const SearchSpace& space, const Prefilter& prefilter, int sketch, Dice& dice);

// Draws n programs that may be measured, with DrawValid from each sketch in turn. The random numbers are keyed by
// (seed, task, index), so the result is the same for any number of threads. `prefilters` has one prefilter per thread.
// Returns the first error if there is one.
absl::StatusOr<std::vector<std::shared_ptr<const Point>>> DrawPrior(const SearchSpace& space,
                                                                    const std::vector<Prefilter>& prefilters,
                                                                    int n, uint64_t seed, int task,
                                                                    ThreadPool& pool);

std::vector<Prefilter> MakePrefilters(const SearchSpace& space, const ThreadPool& pool);

}  // namespace kiln
