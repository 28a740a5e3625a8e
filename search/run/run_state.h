// The state from which another process can continue a run exactly: the chains, the task that is next, and
// the model as it was before it learned from the last batch. The store holds the records separately.
//
// The bytes are CBOR, which keeps the bits of floating-point numbers. kDataLoss means that the bytes are
// damaged or that another version wrote them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "search/strategies/strategy.h"

namespace kiln {

struct TaskRunState {
  int round = 0;  // number of the next round
  bool exhausted = false;
  int64_t known_records = 0;  // the newest record when the run began: newer ones of other runs do not count
  StrategyState strategy;
  double in_place = 0, slower = 1;  // as in Task (search/run/tuner.h), at the last run of the whole model
  bool in_model = false;            // as in Task
};

struct RunState {
  std::vector<TaskRunState> tasks;
  int last_task = -1;    // for round-robin scheduling
  double seconds = 0;    // spent so far
  bool trained = false;  // whether the model has learned anything
  bool raced = false;
  int whole_trials = 0;      // of all tasks at the last run of the whole model; 0: none yet
  double whole_seconds = 0;  // that runs of the whole model took
  std::string model;         // bytes of CostModel::Save; empty if not trained
};

std::string Serialize(const RunState& state);
absl::StatusOr<RunState> ParseRunState(absl::string_view bytes);

}  // namespace kiln
