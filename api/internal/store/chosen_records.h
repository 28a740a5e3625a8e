// The records that a race of whole models chose: for each task, the one that is fastest within the model. The store
// keeps them beside cost models, under the key "whole HASH" of the model.
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

// The chosen records, by hash of the task.
using ChosenRecords = std::map<std::string, ChosenRecord>;

absl::Status SaveChosen(Store& store, const std::string& model_hash, RowId target,
                        const ChosenRecords& chosen);

// Returns nothing if there is no choice, or if it cannot be read.
ChosenRecords LoadChosen(Store& store, const std::string& model_hash, RowId target);

}  // namespace kiln::api
