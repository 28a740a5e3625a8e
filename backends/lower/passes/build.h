// Makes the first loop plan of a program, which later passes improve. It has a node for each loop and block, and tests
// each guard for each instance of a block. A reduction without an initialization block tests at its block whether this
// is its first iteration, where it stores instead of combining.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "backends/lower/plan/loop_plan.h"
#include "lang/program/program.h"

namespace kiln::plan {

// Returns the names of the entry points: NAME, and NAME_prepare if the program has a prepare phase.
std::vector<std::string> EntryNames(const Program& program);

// Builds the first loop plan, with an entry for the main phase and one for the prepare phase, if there is one. `calls`:
// the intrinsics that the program calls, by the outermost loop of each intrinsic's description in the program.
LoopPlan Build(const Program& program, IndexPlan indices, const std::unordered_map<Id, std::string>& calls);

}  // namespace kiln::plan
