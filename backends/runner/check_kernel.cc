#include "backends/runner/check_kernel.h"

#include "absl/strings/str_cat.h"
#include "backends/runner/data.h"

namespace kiln {
namespace {

std::string WhyNoCall(const KernelObject& kernel) {
  if (!kernel.fields.empty() && !EmulationOf(kernel))
    return absl::StrCat("field ", kernel.fields.front().tag, " is unknown to this runner");
  if (kernel.takes_table || kernel.params.size() <= kMaxKernelParams) return "";
  return absl::StrCat(kernel.params.size(), " parameters, but more than ", kMaxKernelParams,
                      " need a function that takes a table");
}

std::optional<KernelProblem> CheckParam(const KernelParam& param, const std::string& name, int64_t bytes) {
  const auto problem = [&](const auto&... text) {
    return KernelProblem{.detail = absl::StrCat(name, text...)};
  };
  const int64_t size = DTypeBytes(param.dtype);
  if (size == 0) return problem(": unknown dtype '", param.dtype, "'");
  if (param.elements < 0) return problem(": a negative number of elements");
  if (param.elements > bytes / size) {
    return KernelProblem{RunStatus::kOutOfMemory,
                         absl::StrCat(name, " has ", param.elements, " elements of ", param.dtype,
                                      ", but only ", bytes, " bytes are allowed")};
  }
  const int64_t wanted = param.elements * size;
  if (!param.data.empty() && static_cast<int64_t>(param.data.size()) != wanted)
    return problem(": ", param.data.size(), " bytes of data for ", wanted);
  return std::nullopt;
}

}  // namespace

std::optional<EmulationOptions> EmulationOf(const KernelObject& kernel) {
  EmulationOptions options;
  const bool emulated = kernel.fields.size() == 1 && kernel.fields[0].tag == kEmulationField &&
                        Decode(kernel.fields[0].bytes, &options);
  return emulated ? std::optional(options) : std::nullopt;
}

std::optional<KernelProblem> CheckKernel(const KernelObject& kernel, int64_t bytes) {
  if (std::string why = WhyNoCall(kernel); !why.empty()) return KernelProblem{.detail = std::move(why)};
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (auto problem = CheckParam(kernel.params[i], absl::StrCat("parameter ", i), bytes)) return problem;
  }
  return std::nullopt;
}

}  // namespace kiln
