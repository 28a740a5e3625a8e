// Saves and loads which layout of a model's temporaries was faster on a machine: that of the file, or the one with
// channels last (policy "channels-last"). The store keeps it beside cost models, under the key "layout HASH" of the
// model as the file has it.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "search/database/store.h"

namespace kiln::api {

// Saves the choice for a model on a target, and replaces an earlier one. `note`: the measurement on which the choice
// rests, for people.
absl::Status SaveLayout(Store& store, const std::string& model_hash, RowId target, bool channels_last,
                        const std::string& note);

// Returns true if channels last are faster; nullopt if nothing was saved for the model on this target, or if it cannot
// be read.
std::optional<bool> LoadLayout(Store& store, const std::string& model_hash, RowId target);

}  // namespace kiln::api
