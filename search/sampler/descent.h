// Coordinate descent: lists the programs that differ from a good one at one site, or by their sketch alone,
// in the order of the model.
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

// For each site of each centre all values of its support, or where these are more than 512 as many proposals
// of its distribution; later sites keep their decisions where they can and are drawn elsewhere, and so do
// those of every other sketch. What may be measured, by energy, with the median and spread of the
// neighbourhood as scale.
absl::StatusOr<std::vector<Candidate>> Neighbourhood(const DescentContext& context,
                                                     absl::Span<const Candidate> centres,
                                                     const CostModel& model);

}  // namespace kiln
