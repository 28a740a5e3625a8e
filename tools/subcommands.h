// One function for each subcommand. It adds the options to the command and returns the action to run after
// parsing.
#pragma once

#include "tools/common.h"

namespace kiln::tools {

Action AddTune(CLI::App& command);
Action AddBuild(CLI::App& command);
Action AddRun(CLI::App& command);
Action AddTrain(CLI::App& command);
Action AddBest(CLI::App& command);
Action AddShow(CLI::App& command);
Action AddReplay(CLI::App& command);
Action AddExport(CLI::App& command);
Action AddCheck(CLI::App& command);
Action AddRace(CLI::App& command);
Action AddBench(CLI::App& command);
Action AddSpace(CLI::App& command);
Action AddLog(CLI::App& command);
Action AddBundle(CLI::App& command);
Action AddRecords(CLI::App& command);
Action AddDoctor(CLI::App& command);

}  // namespace kiln::tools
