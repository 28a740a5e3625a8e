// The log of one round of the search, for people (`kiln log`): batch size, failures, best time, accuracy of the model,
// statistics of the chains, seconds by activity.
#pragma once

#include <optional>
#include <string>

#include "search/measure/noise.h"
#include "search/sampler/population.h"

namespace kiln {

// Seconds of a round by activity: proposals, features, predictions, builds, runs, training, storing. `store` is the
// time of the previous round, because a round is stored before its own store time is known.
struct PhaseSeconds {
  double propose = 0;   // proposals, replays, checks, selection
  double features = 0;  // extracting features of proposals
  double predict = 0;   // scoring by the model
  double build = 0, run = 0;
  double train = 0;  // training on the measurements known when the round began
  double store = 0;
};

struct RoundLog {
  std::string task;
  int batch = 0;                        // programs measured
  int failed = 0;                       // failures among them
  double best_seconds = 0;              // best of the task so far, infinity if nothing ran yet
  std::optional<double> rank_accuracy;  // of the model on this batch, before it learned from the batch
  Quiet quiet;                          // of the batch's samples
  RoundStats chains;
  PhaseSeconds seconds;
};

// Returns the log as one line of JSON: the statistics of a RoundRow (search/database/rows.h).
std::string ToJson(const RoundLog& log);

}  // namespace kiln
