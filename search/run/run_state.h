// What a run needs so that another process can continue it exactly: the chains, whose turn it is, and the
// model as it was before it learned from the last batch. Records are in the store, not here.
//
// The bytes are CBOR, in which floating-point numbers keep their bits. kDataLoss: the bytes are damaged, or
// another version wrote them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "search/strategies/strategy.h"

namespace kiln {

struct TaskRunState {
  int round = 0;  // the next one
  bool exhausted = false;
  int64_t known_records = 0;  // those with greater ids are not of earlier runs
  StrategyState strategy;
};

struct RunState {
  std::vector<TaskRunState> tasks;
  int last_task = -1;    // of the round robin
  double seconds = 0;    // spent so far
  bool trained = false;  // whether the model has learned anything
  bool raced = false;
  std::string model;  // as CostModel::Save gives it; empty if not trained
};

std::string Serialize(const RunState& state);
absl::StatusOr<RunState> ParseRunState(absl::string_view bytes);

}  // namespace kiln
