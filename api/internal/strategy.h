// Applies the settings of a search: the strategy, its traces, the conditions to end, and the cost model.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/tuning.h"
#include "search/features/kinds.h"
#include "search/run/tune.h"

namespace kiln::api {

// Sets the strategy, the scheduler, the conditions to end, and the traces to replay and to start with. It is a Mistake
// if a name is unknown, if the strategy `replay` has no traces to replay, or if another strategy has some. If a file of
// traces or a database cannot be read, the error says where.
absl::Status UseStrategy(const TuneSettings& settings, TuneOptions* tuning);

// Returns the kind of features with this name. An unknown name is a Mistake.
absl::StatusOr<FeatureKind> FeaturesNamed(const std::string& name);

// Sets the cost model and the features of a run; its seed must be set already. An unknown name, and settings that do
// not fit together, are a Mistake. kNotFound if the file settings.transfer cannot be read; kInvalidArgument if it is
// not a model.
absl::Status UseCostModel(const TuneSettings& settings, const Target& target, TuneOptions* tuning);

}  // namespace kiln::api
