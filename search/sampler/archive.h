// Keeps the candidates of a round with the lowest energies, each combination of sketch and decisions once. Batches are
// selected from the archive. Use it from one thread.
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

  // Offers a candidate to the archive, which keeps only those with the lowest energies. Returns false if the candidate
  // was offered before.
  bool Add(const Point& point, double energy);

  // Removes and returns the candidates, lowest energy first. Sets the uncertainty of each: the disagreement among the
  // model's members, divided by `spread`.
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
