// Saves and loads the records that a race of whole models chose: for each task, the record of the whole that won. The
// store keeps them beside cost models, under the key "whole HASH" of the model.
#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"
#include "search/database/store.h"

namespace kiln::api {

struct ChosenRecord {
  RowId record = 0;   // 0: the default schedule
  RowId fastest = 0;  // the fastest record alone when the choice was made
};

// The chosen record of each task, by the hash of the task's program.
using ChosenRecords = std::map<std::string, ChosenRecord>;

absl::Status SaveChosen(Store& store, const std::string& model_hash, RowId target,
                        const ChosenRecords& chosen);

// Returns the saved choice for a model on a target; an empty map if there is none, or if it cannot be read.
ChosenRecords LoadChosen(Store& store, const std::string& model_hash, RowId target);

}  // namespace kiln::api
