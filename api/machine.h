// This machine, what Kiln was built of, and the names that settings may have.
#pragma once

#include <string>
#include <vector>

namespace kiln::api {

struct Versions {
  std::string kiln{}, llvm{}, xgboost{};
};
Versions BuiltWith();

// Of settings, the default first.
std::vector<std::string> TargetNames();
std::vector<std::string> StrategyNames();
std::vector<std::string> CostModelNames();
std::vector<std::string> FeatureNames();

// What on this machine disturbs timings. About half a second.
struct Finding {
  std::string what{}, found{};
  bool disturbs = false;
  std::string advice{};  // empty if it does not disturb
};
std::vector<Finding> Disturbances();

// What this process is doing, in a word ("import", "training"); "" for nothing in particular. Any thread, and
// signal handlers. `changed` is called at each change from now on.
const char* CurrentPhase();
void WatchPhases(void (*changed)(const char* now));

}  // namespace kiln::api
