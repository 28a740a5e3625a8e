// Finds and runs programs of the CUDA toolkit. Kiln does without them where it can.
//
//   auto ptxas = FindCudaTool("ptxas");
//
// Errors: kNotFound with the places that were searched; kInternal if a tool fails. Any thread.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kiln {

// Returns the path of a program of the CUDA toolkit. If the environment variable KILN_NAME is set (such as KILN_PTXAS),
// its value must be the path of an executable file, and nothing else is searched. Otherwise returns the first
// executable in PATH, in the bin folder of CUDA_HOME, CUDA_PATH or /usr/local/cuda, or in a package of PyPI. kNotFound
// if there is none.
absl::StatusOr<std::string> FindCudaTool(const std::string& name);

struct ToolRun {
  int status = -1;  // of its exit; -1 if it did not start or died
  std::string output;
};

// Runs a command, whose first word is the path of a program, and waits for its end. The output is what the program
// wrote to stdout and stderr.
ToolRun RunTool(const std::vector<std::string>& command);

std::string ReadBytes(const std::string& path);  // "" if there is no such file

// Returns the machine instructions of a cubin as text, by nvdisasm or, if that is not found, by cuobjdump. kNotFound if
// neither is found, kInternal if the tool fails.
absl::StatusOr<std::string> Disassemble(const std::string& cubin);

}  // namespace kiln
