// Keeps the candidates of a round with the lowest energies, each program once. Batches are selected from it.
// Use it from one thread.
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

  // Adds a candidate. Returns false if it was added before.
  bool Add(const Point& point, double energy);

  // Removes and returns the candidates, lowest energy first. Each gets the model's doubt about it, in units of
  // `spread`.
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
