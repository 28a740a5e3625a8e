// Everything that was measured for the tasks of a run, by this run and by earlier ones. The model learns from
// it, batches leave out what it holds, and chains start from its best programs. Not thread safe.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "search/cost/cost_model.h"
#include "search/database/store.h"
#include "search/propose/batch.h"
#include "trace/trace.h"

namespace kiln {

struct Measured {
  int task = 0;
  Candidate candidate = {};  // its energy means nothing
  RowId record = 0;
  double seconds = 0;  // median; infinity if it failed
  bool lower_bound = false;
};

class Knowledge {
 public:
  explicit Knowledge(int tasks)
      : hashes_(tasks), best_seconds_(tasks, std::numeric_limits<double>::infinity()) {}

  void Add(const Measured& measured, const FeatureSet& features);

  bool empty() const { return all_.empty(); }
  // Structural hashes of what was measured for a task.
  absl::flat_hash_set<std::string>& hashes(int task) { return hashes_[task]; }
  // The smallest of a task that can be best; infinity without.
  double best_seconds(int task) const { return best_seconds_[task]; }
  // The n fastest of a task that can be best, fastest first; ties go to the one measured first.
  std::vector<const Measured*> Best(int task, int n) const;
  // How many of each sketch were measured.
  std::vector<int> PerSketch(int task, int sketches) const;
  // Updates the model with all there is: throughputs relative to the best of each task.
  absl::Status Teach(CostModel& model) const;

 private:
  std::vector<Measured> all_;
  FeatureBatch features_;  // of all_, in order
  std::vector<absl::flat_hash_set<std::string>> hashes_;
  std::vector<double> best_seconds_;
};

// The candidate that a trace stands for among these sketches; of a text that is parsed first. kNotFound: it
// has steps of another space.
absl::StatusOr<Candidate> CandidateOfTrace(const Trace& trace, absl::Span<const Trace> sketches);
absl::StatusOr<Candidate> CandidateOfText(absl::string_view text, absl::Span<const Trace> sketches);

// The throughputs, relative to the best, of programs that took so many seconds (infinity: it failed).
std::vector<double> Throughputs(absl::Span<const double> seconds);

}  // namespace kiln
