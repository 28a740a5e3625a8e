// Runs a program of the machine, such as a compiler, to its end.
#pragma once

#include <string>
#include <vector>

namespace kiln {

// Runs COMMAND[0], which is looked up in PATH if it has no '/', with its output and errors in a file. Returns its exit
// status; -1 if it could not be run. Any thread.
int RunProgram(const std::vector<std::string>& command, const std::string& output);

}  // namespace kiln
