#include "backends/gpu/ptxas.h"

#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/gpu/cuda_tools.h"
#include "backends/workers/scratch_folder.h"

namespace kiln {
namespace {

// Returns the decimal number right before the first `what` in the line, with at most one space between; 0 if there is
// none.
int64_t NumberBefore(absl::string_view line, absl::string_view what) {
  const size_t at = line.find(what);
  if (at == absl::string_view::npos) return 0;
  const absl::string_view before = absl::StripSuffix(line.substr(0, at), " ");
  const size_t space = before.find_last_not_of("0123456789");
  int64_t number = 0;
  return absl::SimpleAtoi(before.substr(space + 1), &number) ? number : 0;
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

absl::StatusOr<std::string> FindPtxas() { return FindCudaTool("ptxas"); }

absl::StatusOr<std::string> PtxasVersion() {
  const auto ptxas = FindPtxas();
  if (!ptxas.ok()) return ptxas.status();
  const std::string output = RunTool({*ptxas, "--version"}).output;
  // Finds the version after ", V" in the line "Cuda compilation tools, release 13.0, V13.0.88".
  const size_t at = output.rfind(", V");
  if (at == std::string::npos) return absl::StrCat(*ptxas, " of an unknown version");
  const size_t end = output.find_first_of(" \n", at + 3);
  return output.substr(at + 3, end == std::string::npos ? end : end - at - 3);
}

absl::StatusOr<Cubin> AssemblePtx(const std::string& ptx, const std::string& chip) {
  const auto ptxas = FindPtxas();
  if (!ptxas.ok()) return ptxas.status();
  const auto folder = ScratchFolder::Make();
  if (!folder.ok()) return folder.status();
  const std::string source = (*folder)->path() + "/kernels.ptx", cubin = (*folder)->path() + "/kernels.cubin";
  std::ofstream(source, std::ios::binary) << ptx;
  const ToolRun run = RunTool({*ptxas, "-v", absl::StrCat("-arch=", chip), source, "-o", cubin});
  if (run.status != 0)
    return absl::InvalidArgumentError(
        absl::StrCat(*ptxas, " failed with status ", run.status, ": ", run.output));
  return Cubin{ReadBytes(cubin), ParsePtxas(run.output)};
}

}  // namespace kiln
