// Measures the machine's FMA peak with a kernel that runners time beside other kernels: chains of fused
// multiply-adds on whole f32 vectors that stay in registers. Twelve chains hide the latency of two FMA units
// and fit sixteen registers.
//
// Time it in turns with the kernel that it is compared with (RunRequest::peers), because clock rates and
// other load change over time.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen/link.h"
#include "backends/runner/runner.h"
#include "testing/compiled/loaded.h"

namespace kiln {

struct FmaProbe {
  KernelObject kernel;  // has one parameter, a workspace; takes about 1 ms
  double flops = 0;     // of one call
};

inline absl::StatusOr<FmaProbe> MakeFmaProbe() {
  constexpr int kChains = 12, kRounds = 400000;
  const int lanes = Host().vector_bytes / 4;
  const std::string vector = absl::StrCat("vector<", lanes, "xf32>"),
                    memory = absl::StrCat("memref<", kChains * lanes, "xf32>");
  std::string before, starts, types, body, results, after;
  for (int i = 0; i < kChains; ++i) {
    const std::string comma = i > 0 ? ", " : "";
    absl::StrAppend(&before, "  %at", i, " = arith.constant ", i * lanes, " : index\n  %start", i,
                    " = vector.load %p[%at", i, "] : ", memory, ", ", vector, "\n");
    absl::StrAppend(&starts, comma, "%v", i, " = %start", i);
    absl::StrAppend(&types, comma, vector);
    absl::StrAppend(&body, "    %w", i, " = vector.fma %v", i, ", %x, %y : ", vector, "\n");
    absl::StrAppend(&results, comma, "%w", i);
    absl::StrAppend(&after, "  vector.store %end#", i, ", %p[%at", i, "] : ", memory, ", ", vector, "\n");
  }
  const std::string text = absl::StrCat(
      "func.func @probe(%p: ", memory,
      ") {\n  %zero = arith.constant 0 : index\n  %one = arith.constant 1 : index\n",
      "  %rounds = arith.constant ", kRounds, " : index\n  %x = arith.constant dense<0.999> : ", vector,
      "\n  %y = arith.constant dense<0.001> : ", vector, "\n", before, "  %end:", kChains,
      " = scf.for %i = %zero to %rounds step %one iter_args(", starts, ") -> (", types, ") {\n", body,
      "    scf.yield ", results, " : ", types, "\n  }\n", after, "  return\n}\n");
  auto module = Parse(text);
  if (!module) return absl::InternalError("the probe does not parse");
  auto object = HostCodegen().Compile(*module, {.entries = {{.name = "probe"}}});
  if (!object.ok()) return object.status();
  auto shared = LinkShared({object->bytes}, {.exports = {"probe"}});
  if (!shared.ok()) return shared.status();
  FmaProbe probe;
  probe.kernel.shared_object = *std::move(shared);
  probe.kernel.symbol = "probe";
  probe.kernel.params = {{.dtype = "f32", .elements = kChains * lanes, .role = KernelParam::kWorkspace}};
  probe.flops = 2.0 * kChains * lanes * kRounds;
  return probe;
}

}  // namespace kiln
