// Describes this machine, the versions of the libraries that Kiln was built with, and the names that settings accept.
#pragma once

#include <string>
#include <vector>

namespace kiln::api {

struct Versions {
  std::string kiln{}, llvm{}, xgboost{};
};
Versions BuiltWith();

// Return the names of targets, search strategies, cost models and kinds of features that settings accept, the default
// first.
std::vector<std::string> TargetNames();
std::vector<std::string> StrategyNames();
std::vector<std::string> CostModelNames();
std::vector<std::string> FeatureNames();

// A constant of the cost table (lang/target/cost_table.h): a number about this machine that estimates and thresholds
// use.
struct Constant {
  std::string name{};
  double value = 0;
  std::string unit{}, machine{}, command{};  // the machine and the command that gave it, or "not measured"
};
std::vector<Constant> Constants();

// A property of this machine that may disturb timings, what was found, and advice. NoiseSources looks at all of them,
// which takes about half a second.
struct Finding {
  std::string what{}, found{};
  bool disturbs = false;
  std::string advice{};  // empty if it does not disturb
};
std::vector<Finding> NoiseSources();

// CurrentPhase returns what this process is doing, in one word ("import", "training"), or "". It is safe in any thread
// and in signal handlers. WatchPhases calls `changed` with the new word at each later change. This replaces an earlier
// watcher. Null removes it.
const char* CurrentPhase();
void WatchPhases(void (*changed)(const char* now));

}  // namespace kiln::api
