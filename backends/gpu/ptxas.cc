#include "backends/gpu/ptxas.h"

#include <fcntl.h>
#include <glob.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/workers/scratch_folder.h"

extern char** environ;

namespace kiln {
namespace {

// The number before `what` in the line; 0 if the line does not have it.
int64_t NumberBefore(absl::string_view line, absl::string_view what) {
  const size_t at = line.find(what);
  if (at == absl::string_view::npos) return 0;
  const absl::string_view before = absl::StripSuffix(line.substr(0, at), " ");
  const size_t space = before.find_last_not_of("0123456789");
  int64_t number = 0;
  return absl::SimpleAtoi(before.substr(space + 1), &number) ? number : 0;
}

std::string Environment(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

// The paths where ptxas may be, in the order of the search. A `*` stands for any name.
std::vector<std::string> Places() {
  std::vector<std::string> places;
  if (const std::string path = Environment("KILN_PTXAS"); !path.empty()) return {path};
  for (const absl::string_view folder : absl::StrSplit(Environment("PATH"), ':', absl::SkipEmpty()))
    places.push_back(absl::StrCat(folder, "/ptxas"));
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string home = Environment(name); !home.empty()) places.push_back(home + "/bin/ptxas");
  places.push_back("/usr/local/cuda/bin/ptxas");
  for (const std::string& python :
       {Environment("VIRTUAL_ENV") + "/lib/python3*/site-packages",
        Environment("HOME") + "/.local/lib/python3*/site-packages",
        std::string("/usr/local/lib/python3*/dist-packages"), std::string("/usr/lib/python3*/dist-packages")})
    places.push_back(python + "/nvidia/*/bin/ptxas");
  return places;
}

std::string ReadFile(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Runs a program with its output and errors in a file. Returns its exit status; -1 if it could not be run.
int RunProgram(const std::vector<std::string>& command, const std::string& output) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const absl::Cleanup destroy = [&] { posix_spawn_file_actions_destroy(&actions); };
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  int status = 0;
  if (posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) return -1;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

PtxasReport ParsePtxas(absl::string_view output) {
  PtxasReport report;
  for (absl::string_view line : absl::StrSplit(output, '\n', absl::SkipWhitespace())) {
    if (absl::StrContains(line, "warning")) report.warnings.emplace_back(absl::StripAsciiWhitespace(line));
    if (const size_t at = line.find("entry function '"); at != absl::string_view::npos) {
      const absl::string_view name = line.substr(at + sizeof("entry function '") - 1);
      report.kernels.push_back({.name = std::string(name.substr(0, name.find('\'')))});
    }
    if (report.kernels.empty()) continue;
    KernelFacts& kernel = report.kernels.back();
    if (absl::StrContains(line, " bytes stack frame")) {
      kernel.stack = NumberBefore(line, " bytes stack frame");
      kernel.spill_stores = NumberBefore(line, " bytes spill stores");
      kernel.spill_loads = NumberBefore(line, " bytes spill loads");
    }
    if (absl::StrContains(line, " registers")) {
      kernel.registers = NumberBefore(line, " registers");
      kernel.shared = NumberBefore(line, " bytes smem");
      kernel.barriers = NumberBefore(line, " barriers");
    }
  }
  return report;
}

absl::Status CheckKernels(const PtxasReport& report, const KernelLimits& limits) {
  for (const std::string& warning : report.warnings) {
    for (const char* code : {"C7504", "C7508", "C7510"})
      if (absl::StrContains(warning, code)) return absl::FailedPreconditionError(warning);
  }
  for (const KernelFacts& kernel : report.kernels) {
    if (kernel.spill_stores > limits.spills)
      return absl::FailedPreconditionError(absl::StrCat("kernel ", kernel.name, " spills ",
                                                        kernel.spill_stores,
                                                        " bytes of registers; the limit is ", limits.spills));
    if (kernel.stack > limits.stack)
      return absl::FailedPreconditionError(absl::StrCat("kernel ", kernel.name, " has a stack of ",
                                                        kernel.stack, " bytes; the limit is ", limits.stack));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> FindPtxas() {
  const std::vector<std::string> places = Places();
  for (const std::string& place : places) {
    glob_t found = {};
    const absl::Cleanup release = [&] { globfree(&found); };
    if (glob(place.c_str(), 0, nullptr, &found) != 0) continue;
    for (size_t i = 0; i < found.gl_pathc; ++i)
      if (access(found.gl_pathv[i], X_OK) == 0) return std::string(found.gl_pathv[i]);
  }
  return absl::NotFoundError(absl::StrCat(
      "no ptxas: install the CUDA toolkit or PyPI's nvidia-cuda-nvcc, or set KILN_PTXAS; looked for ",
      absl::StrJoin(places, ", ")));
}

absl::StatusOr<Cubin> AssemblePtx(const std::string& ptx, const std::string& chip) {
  const auto ptxas = FindPtxas();
  if (!ptxas.ok()) return ptxas.status();
  const auto folder = ScratchFolder::Make();
  if (!folder.ok()) return folder.status();
  const std::string source = (*folder)->path() + "/kernels.ptx", cubin = (*folder)->path() + "/kernels.cubin",
                    log = (*folder)->path() + "/log";
  std::ofstream(source, std::ios::binary) << ptx;
  const int status = RunProgram({*ptxas, "-v", absl::StrCat("-arch=", chip), source, "-o", cubin}, log);
  const std::string output = ReadFile(log);
  if (status != 0)
    return absl::InvalidArgumentError(absl::StrCat(*ptxas, " failed with status ", status, ": ", output));
  return Cubin{ReadFile(cubin), ParsePtxas(output)};
}

}  // namespace kiln
