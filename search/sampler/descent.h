// Coordinate descent: lists the programs that differ from a good program in one decision, or only by their sketch, in
// the order of the model's scores.
#pragma once

#include "search/sampler/chain.h"
#include "search/thread_pool.h"

namespace kiln {

struct DescentContext {
  const SearchSpace& space;
  uint64_t seed = 0;
  int task = 0, round = 0;
  ThreadPool& pool;
};

// Returns the neighbours of all centres that may be measured, lowest energy first. For each sampling step, tries all
// values of its support, or the distinct ones among 512 proposals if there are more. Later steps keep their decisions
// if they can and draw otherwise. Also tries the centre's decisions in every other sketch. The energy scale is the
// median and spread of the neighbours' scores.
absl::StatusOr<std::vector<Candidate>> Neighbourhood(const DescentContext& context,
                                                     absl::Span<const Candidate> centres,
                                                     const CostModel& model);

}  // namespace kiln
