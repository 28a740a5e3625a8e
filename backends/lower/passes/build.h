// Makes the first loop plan of a program, which later passes improve: a node for each loop and block, each guard tested
// for each instance, each reduction without initialization started at its block.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

// Returns the names of the entry points: NAME, and NAME_prepare if the program has a prepare phase.
std::vector<std::string> EntryNames(const Program& program);

// Builds the first plan. `calls`: the intrinsics that the program calls, by the outermost loop of each description.
LoopPlan Build(const Program& program, IndexPlan indices, const std::unordered_map<Id, std::string>& calls);

}  // namespace kiln::plan
