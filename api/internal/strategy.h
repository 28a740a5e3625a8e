// How a search goes, of its settings: the strategy, the traces that it is given, when it ends, and what
// guesses how fast candidates are.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/tuning.h"
#include "search/features/kinds.h"
#include "search/run/tune.h"

namespace kiln::api {

// Mistakes: a name that there is not, `replay` without a list, or a list without `replay`. Of a file of
// traces or a database that cannot be read: the error that says where.
absl::Status UseStrategy(const TuneSettings& settings, TuneOptions* tuning);

// A Mistake where there are none of this name.
absl::StatusOr<FeatureKind> FeaturesNamed(const std::string& name);

// Sets the model and the features of a run, whose seed is known. Mistakes: settings that do not go together;
// kInvalidArgument for a file that is no model.
absl::Status UseCostModel(const TuneSettings& settings, TuneOptions* tuning);

}  // namespace kiln::api
