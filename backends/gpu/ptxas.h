// Assembles PTX with NVIDIA's ptxas, a program of the CUDA toolkit that Kiln runs as a subprocess.
//
//   auto cubin = AssemblePtx(ptx, "sm_90a");
//   if (absl::Status refused = CheckKernels(cubin->report); !refused.ok()) ...
//
// Errors of AssemblePtx: kNotFound without ptxas, with the places that were searched; kInvalidArgument with
// ptxas's message if it refuses the text. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln {

// The registers and memory that a kernel uses, as ptxas reports them. Sizes are in bytes.
struct KernelFacts {
  std::string name;
  int64_t registers = 0;
  int64_t stack = 0, spill_stores = 0, spill_loads = 0;
  int64_t shared = 0;  // static
  int64_t barriers = 0;
  bool operator==(const KernelFacts&) const = default;
};

struct PtxasReport {
  std::vector<KernelFacts> kernels = {};
  std::vector<std::string> warnings = {};
};

// Returns the kernels and warnings in the output of `ptxas -v`. Ignores lines that it does not know.
PtxasReport ParsePtxas(absl::string_view output);

struct KernelLimits {
  int64_t stack = 0;   // bytes of memory that a thread may have besides registers
  int64_t spills = 0;  // bytes that it may store there for want of registers
};

// Checks a report. kFailedPrecondition if a kernel exceeds a limit, or if ptxas warns that wgmma is serialized (C7510)
// or setmaxnreg is ignored (C7504, C7508), which may hang. By default, any stack and any spill store exceed the limits.
absl::Status CheckKernels(const PtxasReport& report, const KernelLimits& limits = {});

// Return the path of ptxas (cuda_tools.h), and its version, such as 13.0.88, or a text which says that it is unknown.
// kNotFound if there is no ptxas.
absl::StatusOr<std::string> FindPtxas();
absl::StatusOr<std::string> PtxasVersion();

struct Cubin {
  std::string bytes;
  PtxasReport report;
};

// Assembles PTX for a chip to a cubin. kInvalidArgument with the output of ptxas if it fails; the error of FindPtxas if
// there is none.
absl::StatusOr<Cubin> AssemblePtx(const std::string& ptx, const std::string& chip);

}  // namespace kiln
