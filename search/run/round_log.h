// What is kept of a round of the search, so that people can understand it afterwards (`kiln log`).
#pragma once

#include <optional>
#include <string>

#include "search/measure/noise.h"
#include "search/sampler/population.h"

namespace kiln {

// Seconds of a round, by what they went to. `store` is the time of the round before: a round is stored before
// it is known.
struct PhaseSeconds {
  double propose = 0;   // proposals, replays, checks, selection
  double features = 0;  // of proposals
  double predict = 0;   // scores of the model
  double build = 0, run = 0;
  double train = 0;  // of the model on what was known when the round began
  double store = 0;
};

struct RoundLog {
  std::string task;
  int batch = 0;                        // programs measured
  int failed = 0;                       // of these
  double best_seconds = 0;              // of the task so far, infinity while nothing ran
  std::optional<double> rank_accuracy;  // of the model on this batch, before it learned from it
  Quiet quiet;                          // of the batch's samples
  RoundStats chains;
  PhaseSeconds seconds;
};

// As JSON, in one line: the statistics of a RoundRow (search/database/store.h).
std::string ToJson(const RoundLog& log);

}  // namespace kiln
