// This machine, the libraries that Kiln was built with, and the names that settings accept.
#pragma once

#include <string>
#include <vector>

namespace kiln::api {

struct Versions {
  std::string kiln{}, llvm{}, xgboost{};
};
Versions BuiltWith();

// Returns the names that settings accept, the default first.
std::vector<std::string> TargetNames();
std::vector<std::string> StrategyNames();
std::vector<std::string> CostModelNames();
std::vector<std::string> FeatureNames();

// A number that estimates and thresholds use about this machine (lang/target/cost_table.h).
struct Constant {
  std::string name{};
  double value = 0;
  std::string unit{}, machine{}, command{};  // the machine and the command that gave it, or "not measured"
};
std::vector<Constant> Constants();

// A property of this machine that may disturb timings. NoiseSources takes about half a second.
struct Finding {
  std::string what{}, found{};
  bool disturbs = false;
  std::string advice{};  // empty if it does not disturb
};
std::vector<Finding> NoiseSources();

// CurrentPhase returns what this process is doing, in one word ("import", "training"), or "". It is safe in
// any thread and in signal handlers. WatchPhases calls `changed` at each later change.
const char* CurrentPhase();
void WatchPhases(void (*changed)(const char* now));

}  // namespace kiln::api
