// All measurements of a run's tasks, by this run and by earlier ones. The model learns from them, batches
// skip programs that are in them, and chains start from the best of them. Not thread safe.
//
// Measurements of a task with another state of the caches than the one that now counts are set aside: they belong to a
// task of their own, whose number is Aside(task). Only the model learns from them.
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
  Candidate candidate = {};  // its energy is not set
  RowId record = 0;
  double seconds = 0;  // median; infinity if it failed
  bool lower_bound = false;
};

class MeasuredHistory {
 public:
  explicit MeasuredHistory(int tasks)
      : tasks_(tasks),
        hashes_(2 * static_cast<size_t>(tasks)),
        best_seconds_(2 * static_cast<size_t>(tasks), std::numeric_limits<double>::infinity()) {}

  void Add(const Measured& measured, const FeatureSet& features);

  int Aside(int task) const { return tasks_ + task; }
  // Sets all measurements of a task aside: none of its programs then counts as measured. TakeBack is the reverse.
  void SetAside(int task) { Rename(task, Aside(task)); }
  void TakeBack(int task) { Rename(Aside(task), task); }

  bool empty() const { return all_.empty(); }
  // Returns the set of structural hashes of the programs that a task need not measure again. Only callers fill this
  // set: Add does not.
  absl::flat_hash_set<std::string>& hashes(int task) { return hashes_[task]; }
  // Returns the least time in seconds of a task's programs that ran to the end (no failure, no lower bound), or
  // infinity.
  double best_seconds(int task) const { return best_seconds_[task]; }
  // Returns the n fastest of a task's programs that ran to the end (no failure, no lower bound), fastest first. Ties go
  // to the program measured first.
  std::vector<const Measured*> Best(int task, int n) const;
  // Returns for each of a task's `sketches` sketches how many programs of it were measured.
  std::vector<int> PerSketch(int task, int sketches) const;
  // Trains the model on all measurements. The label of a program is the best time of its task divided by its own time.
  // A failure has the label 0 and half the weight. The label of a program that was stopped early is an upper bound.
  absl::Status Teach(CostModel& model) const;

 private:
  void Rename(int task, int to);

  int tasks_;
  std::vector<Measured> all_;
  FeatureBatch features_;  // features of all_, in the same order
  std::vector<absl::flat_hash_set<std::string>> hashes_;
  std::vector<double> best_seconds_;
};

// Returns the candidate that a trace represents among these sketches. CandidateOfText parses the trace first. Returns
// kNotFound if the trace belongs to none of the sketches, and CandidateOfText the parser's error for a malformed text.
absl::StatusOr<Candidate> CandidateOfTrace(const Trace& trace, absl::Span<const Trace> sketches);
absl::StatusOr<Candidate> CandidateOfText(absl::string_view text, absl::Span<const Trace> sketches);

// Returns for each of these times the best time divided by it: the relative throughput. Returns 0 for a failure
// (infinity).
std::vector<double> Throughputs(absl::Span<const double> seconds);

}  // namespace kiln
