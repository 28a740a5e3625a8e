// Settings and results of Session::Run, which runs and times the library of a whole model. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/model.h"

namespace kiln::api {

// The median of samples, and its 95% bootstrap interval.
struct Interval {
  double median = 0, low = 0, high = 0;
};

struct RunSettings {
  std::string library{};              // NAME.so, made by Session::Build
  std::string weights{};              // NAME.weights; empty: drawn constants are prepared
  std::vector<std::string> inputs{};  // .npy files of the first inputs; the others are drawn
  int runs = 20;
  int threads = 1;
  uint64_t seed = 0;
  double seconds = 60;   // limit for everything
  bool profile = false;  // whether to time each call too
};

// The time of one call of a task, measured while the whole model runs. Calls of the prepare phase are not timed.
struct CallTimes {
  int number = 0;                  // as in NAME.trace
  std::string task{}, schedule{};  // "record 12", "default", "untuned" or "foreign"
  Interval seconds{};
};

struct RunReport {
  std::string library{}, name{};
  std::vector<Parameter> parameters{};
  int64_t weights_bytes = 0, arena_bytes = 0;
  int runs = 0, threads = 1;
  Interval seconds{};              // of a run
  double prepare_seconds = 0;      // 0 if weights were given
  std::vector<CallTimes> calls{};  // in order, if RunSettings::profile is set
};

}  // namespace kiln::api
