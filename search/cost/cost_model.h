// The cost model: guesses how fast a program will be from its features, so that thousands of candidates are
// compared for each one that is measured.
//
// Replace it (derive from CostModel) when you have a better guess: another learner, an analytic model, an
// ensemble. The search needs the order of the scores and their rough spread, never their unit: energies are
// scores divided by their own interquartile range.
//
// One round:
//   scores = model->Predict(generation)     many times, one call for a whole generation
//   ... measure a batch; report the RankAccuracy (search/cost/rank.h) that its scores had ...
//   model->Update(everything known, relabelled)
//
// Threads: a model is used by one thread at a time, whichever that is; the caller synchronizes, Predict
// included.
//
// Determinism: equal calls in equal order give equal bits for one binary, whatever the number of threads of
// the process or of OpenMP is. Training runs on the calling thread alone.
//
// Errors: kInvalidArgument when features, labels or saved bytes are malformed, kInternal when the library
// behind the model fails; in both the model is as it was.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "search/features/feature_set.h"

namespace kiln {

// What is known of one program after it was measured.
struct TrainingLabel {
  double throughput = 0;  // relative to the best of its task, in [0, 1]; 0 for a candidate that failed
  int group = 0;          // its task: only programs of one task are ranked against each other
  double weight = 1;  // importance, at least 0; a failed candidate or another machine's record may count less
  bool upper_bound = false;  // its run was stopped early: the throughput is at most this
};

class CostModel {
 public:
  virtual ~CostModel() = default;

  // One score for each program, higher is better. Zeros when nothing was learned yet.
  virtual absl::StatusOr<std::vector<double>> Predict(const FeatureBatch& programs) const = 0;

  // How unsure the model is of each score: the standard deviation among its members, in the unit of scores,
  // at least 0. Zeros from a model that has no members to ask, and before the first Update. A batch takes
  // some of its programs where this is highest.
  virtual absl::StatusOr<std::vector<double>> Disagreement(const FeatureBatch& programs) const;

  // Whether scores tell programs apart before the first Update.
  virtual bool Informed() const { return false; }

  // Learns from `programs`, which are all that is known, old and new: labels are relative to the best of a
  // task, so they change whenever a better program is found, and the caller gives them anew. The caller keeps
  // the features (append to one FeatureBatch); the model keeps none.
  virtual absl::Status Update(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels) = 0;

  // Bytes from which Load makes this model again: equal predictions, and equal updates from there on. For the
  // same machine architecture and library version.
  virtual absl::StatusOr<std::string> Save() const = 0;

  // Becomes the saved model; kInvalidArgument (and stays what it was) if the bytes are damaged, of another
  // kind of model, of another number of features, or written by another version.
  virtual absl::Status Load(absl::string_view bytes) = 0;
};

// For implementations. kInvalidArgument unless the batch has `dim` features a row and every number is finite;
// the message names program, row and feature.
absl::Status CheckFeatures(const FeatureBatch& programs, int dim);
// kInvalidArgument unless there is one label for each program and each is in the ranges above.
absl::Status CheckLabels(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels);

}  // namespace kiln
