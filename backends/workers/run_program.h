// Runs a program of the machine, such as a compiler, to its end.
#pragma once

#include <string>
#include <vector>

namespace kiln {

// Runs the program command[0] with the arguments after it, and waits for its end. The name is looked up in PATH if it
// has no '/'. Its standard output and error go to the file `output`. Returns the exit status; -1 if the program could
// not be run or died from a signal. Any thread.
int RunProgram(const std::vector<std::string>& command, const std::string& output);

}  // namespace kiln
