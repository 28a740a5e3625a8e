// Finds and runs programs of the CUDA toolkit, which Kiln does without where it can.
//
//   auto ptxas = FindCudaTool("ptxas");
//
// Errors: kNotFound with the places that were searched. Any thread.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kiln {

// Returns the path of a tool: KILN_NAME (such as KILN_PTXAS) if that is set, else in PATH, CUDA_HOME, CUDA_PATH,
// /usr/local/cuda, or a package of PyPI.
absl::StatusOr<std::string> FindCudaTool(const std::string& name);

struct ToolRun {
  int status = -1;  // of its exit; -1 if it did not start or died
  std::string output;
};

// Runs a command whose first word is a path. The output has its errors too.
ToolRun RunTool(const std::vector<std::string>& command);

std::string ReadBytes(const std::string& path);  // "" if there is no such file

// Returns the machine instructions of a cubin as text, by nvdisasm or else cuobjdump. kInternal if the tool fails.
absl::StatusOr<std::string> Disassemble(const std::string& cubin);

}  // namespace kiln
