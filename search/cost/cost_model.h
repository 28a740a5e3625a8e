// The cost model predicts from features how fast a program runs. The search can thus
// compare thousands of candidates for each one that it measures.
//
// Derive from CostModel to use another learner, an analytic model or an ensemble. The search needs the order of the
// scores and their rough spread, never their unit: it divides scores by a multiple of their own interquartile range
// (EnergyScale in search/sampler/annealing.h).
//
// One round:
//   scores = model->Predict(generation)     many times, one call for a whole generation
//   ... measure a batch; report the RankAccuracy (search/cost/rank.h) that its scores had ...
//   model->Update(everything known, relabelled)
//
// Threads: one thread at a time may use a model, Predict included. The caller
// synchronizes.
//
// Determinism: for one binary, equal calls in equal order give equal bits for any number
// of threads, of the process or of OpenMP. Training runs on the calling thread only.
//
// Errors: kInvalidArgument if features, labels or saved bytes are malformed; kInternal if
// the library behind the model fails. After an error the model is unchanged.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "search/features/feature_set.h"

namespace kiln {

// The result of measuring one program, as the model learns it.
struct TrainingLabel {
  double throughput = 0;  // relative to the best of its task, in [0, 1]; 0 for a candidate that failed
  int group = 0;          // its task; only programs of one task are ranked against each other
  double weight = 1;      // importance, at least 0; lower for failed candidates or records of another machine
  bool upper_bound = false;  // the run was stopped early, so the throughput is at most this
};

class CostModel {
 public:
  virtual ~CostModel() = default;

  // Returns one score for each program; higher is faster. A model that learns returns zeros before the first Update,
  // unless it is Informed.
  virtual absl::StatusOr<std::vector<double>> Predict(const FeatureBatch& programs) const = 0;

  // Returns how unsure the model is of each score: the standard deviation among its members, in the unit of scores, at
  // least 0. All zeros for a model without members, and before the first Update. A batch takes some of its programs
  // where the disagreement is highest.
  virtual absl::StatusOr<std::vector<double>> Disagreement(const FeatureBatch& programs) const;

  // Returns true if scores distinguish programs even before the first Update.
  virtual bool Informed() const { return false; }

  // Trains the model on `programs`, which are all known programs, old and new. Labels are relative to the
  // best of a task and change when a better program is found, so the caller passes all of them again. The
  // caller keeps the features (append to one FeatureBatch); the model keeps none.
  virtual absl::Status Update(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels) = 0;

  // Returns bytes from which Load restores this model: equal predictions and equal later updates. The bytes
  // are valid for the same machine architecture and library version.
  virtual absl::StatusOr<std::string> Save() const = 0;

  // Restores the saved model. Returns kInvalidArgument, and leaves the model unchanged, if the bytes are
  // damaged or come from another kind of model, another number of features or another version.
  virtual absl::Status Load(absl::string_view bytes) = 0;
};

// For implementations of CostModel: returns kInvalidArgument unless each row of the batch has `dim` features and all
// numbers are finite. The message names the program, row and feature of the first number that is not finite. A batch
// without programs is valid, whatever its number of columns.
absl::Status CheckFeatures(const FeatureBatch& programs, int dim);
// Returns kInvalidArgument unless there is one label for each program, with a throughput in [0, 1] and a finite weight
// of at least 0.
absl::Status CheckLabels(const FeatureBatch& programs, absl::Span<const TrainingLabel> labels);

}  // namespace kiln
