// Draws from the prior of a space that may be measured.
#pragma once

#include <vector>

#include "search/sampler/chain.h"
#include "search/thread_pool.h"

namespace kiln {

// Up to 100 draws until one may be measured: the first of `sketch`, so that each can be given its share of a
// round's draws, the others of any. kFailedPrecondition: none may, with the last reason.
absl::StatusOr<Point> DrawValid(const SearchSpace& space, const Judge& judge, int sketch, Dice& dice);

// n such draws, the sketches in turn, keyed by (seed, task, index); equal for any number of threads. `judges`
// are by thread. The first error if there is one.
absl::StatusOr<std::vector<std::shared_ptr<const Point>>> DrawPrior(const SearchSpace& space,
                                                                    const std::vector<Judge>& judges, int n,
                                                                    uint64_t seed, int task,
                                                                    ThreadPool& pool);

std::vector<Judge> MakeJudges(const SearchSpace& space, const ThreadPool& pool);

}  // namespace kiln
