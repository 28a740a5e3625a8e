// Keeps the candidates of a round with the lowest energies, each program once. Batches are selected from it.
// One thread.
#pragma once

#include <limits>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "search/sampler/chain.h"

namespace kiln {

class Archive {
 public:
  explicit Archive(int size) : size_(static_cast<size_t>(size)) {}

  // False if the candidate has been here before.
  bool Add(const Point& point, double energy);

  // The best, lowest energy first, each with the doubt that the model has of it, in units of `spread`.
  absl::StatusOr<std::vector<Candidate>> Take(const CostModel& model, double spread);

 private:
  struct Entry {
    Candidate candidate;
    FeatureSet features;
  };
  void Shrink();

  size_t size_;
  std::vector<Entry> entries_;
  double worst_ = std::numeric_limits<double>::infinity();
  absl::flat_hash_set<std::vector<int64_t>> known_;
};

}  // namespace kiln
