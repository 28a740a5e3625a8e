#include "backends/gpu/cuda_tools.h"

#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/workers/run_program.h"
#include "backends/workers/scratch_folder.h"

namespace kiln {
namespace {

std::string Environment(const std::string& name) {
  const char* value = getenv(name.c_str());
  return value == nullptr ? "" : value;
}

std::string VariableOf(const std::string& tool) { return absl::StrCat("KILN_", absl::AsciiStrToUpper(tool)); }

// Returns the paths where a program of the CUDA toolkit may be, in the order of the search. If the environment variable
// KILN_NAME is set, returns only its value. A `*` in a path stands for any name.
std::vector<std::string> Places(const std::string& tool) {
  std::vector<std::string> places;
  if (const std::string path = Environment(VariableOf(tool)); !path.empty()) return {path};
  for (const absl::string_view folder : absl::StrSplit(Environment("PATH"), ':', absl::SkipEmpty()))
    places.push_back(absl::StrCat(folder, "/", tool));
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string home = Environment(name); !home.empty())
      places.push_back(absl::StrCat(home, "/bin/", tool));
  places.push_back("/usr/local/cuda/bin/" + tool);
  for (const std::string& python :
       {Environment("VIRTUAL_ENV") + "/lib/python3*/site-packages",
        Environment("HOME") + "/.local/lib/python3*/site-packages",
        std::string("/usr/local/lib/python3*/dist-packages"), std::string("/usr/lib/python3*/dist-packages")})
    places.push_back(absl::StrCat(python, "/nvidia/*/bin/", tool));
  return places;
}

}  // namespace

std::string ReadBytes(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

ToolRun RunTool(const std::vector<std::string>& command) {
  const auto folder = ScratchFolder::Make();
  if (!folder.ok()) return {.output = std::string(folder.status().message())};
  const std::string log = (*folder)->path() + "/log";
  ToolRun run{.status = RunProgram(command, log), .output = ReadBytes(log)};
  return run;
}

absl::StatusOr<std::string> FindCudaTool(const std::string& name) {
  const std::vector<std::string> places = Places(name);
  for (const std::string& place : places) {
    glob_t found = {};
    const absl::Cleanup release = [&] { globfree(&found); };
    if (glob(place.c_str(), 0, nullptr, &found) != 0) continue;
    for (size_t i = 0; i < found.gl_pathc; ++i)
      if (access(found.gl_pathv[i], X_OK) == 0) return std::string(found.gl_pathv[i]);
  }
  return absl::NotFoundError(absl::StrCat("no ", name, ": install the CUDA toolkit",
                                          name == "ptxas" ? " or PyPI's nvidia-cuda-nvcc" : "", ", or set ",
                                          VariableOf(name), "; looked for ", absl::StrJoin(places, ", ")));
}

absl::StatusOr<std::string> Disassemble(const std::string& cubin) {
  std::vector<std::string> command;
  const auto nvdisasm = FindCudaTool("nvdisasm");
  if (nvdisasm.ok()) {
    command = {*nvdisasm};
  } else {
    const auto cuobjdump = FindCudaTool("cuobjdump");
    if (!cuobjdump.ok())
      return absl::NotFoundError(
          absl::StrCat(nvdisasm.status().message(), "; and ", cuobjdump.status().message()));
    command = {*cuobjdump, "-sass"};
  }
  const auto folder = ScratchFolder::Make();
  if (!folder.ok()) return folder.status();
  const std::string file = (*folder)->path() + "/kernels.cubin";
  std::ofstream(file, std::ios::binary) << cubin;
  command.push_back(file);
  const ToolRun run = RunTool(command);
  if (run.status != 0)
    return absl::InternalError(
        absl::StrCat(command[0], " failed with status ", run.status, ": ", run.output));
  return run.output;
}

}  // namespace kiln
