// The kiln command, as a function.
#pragma once

namespace kiln::tools {

// Runs a command line and returns the exit code: 0 ok, 1 failed, 2 usage, 3 interrupted or partial results, 4 undecided
// (kiln check). Results go to standard output, progress and errors to standard error.
int RunKiln(int argc, const char* const* argv);

}  // namespace kiln::tools
