#include "backends/builder/builder.h"

#include <algorithm>

#include "backends/workers/wire.h"

namespace kiln {
namespace {

struct BuildFields {
  static void Of(auto& visit, auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, BuildLimits>) {
      visit(value.seconds, value.bytes);
    } else if constexpr (std::is_same_v<T, BuildRequest>) {
      visit(value.program, value.module, value.entries, value.foreign, value.doubles, value.symbol,
            value.outputs, value.contract, value.policies.switched, value.lifts_allocations, value.pieces,
            value.alignment, value.stands_alone, value.table_above, value.triple, value.cpu, value.features,
            value.print_after_all, value.limits, value.object_folder, value.cache_key);
    } else if constexpr (std::is_same_v<T, PreparedParam>) {
      visit(value.dtype, value.elements);
    } else if constexpr (std::is_same_v<T, KernelFacts>) {
      visit(value.name, value.registers, value.stack, value.spill_stores, value.spill_loads, value.shared,
            value.barriers);
    } else if constexpr (LaunchFields::kHas<T>) {
      LaunchFields::Of(visit, value);
    } else {
      static_assert(std::is_same_v<T, BuildResult>);
      visit(value.status, value.error, value.outputs, value.has_prepare, value.prepared, value.workspaces,
            value.has_status, value.takes_threads, value.has_table, value.launches, value.kernels,
            value.warnings, value.passes, value.seconds, value.from_folder, value.remark);
    }
  }
};

}  // namespace

std::string Encode(const BuildRequest& request) { return WireEncode<BuildFields>(request); }
std::string Encode(const BuildResult& result) { return WireEncode<BuildFields>(result); }

bool Decode(const std::string& bytes, BuildRequest* request) {
  return WireDecode<BuildFields>(bytes, request) &&
         std::all_of(request->outputs.begin(), request->outputs.end(), [](BuildOutput output) {
           return output >= BuildOutput::kSharedObject && output <= BuildOutput::kEmulated;
         });
}

bool Decode(const std::string& bytes, BuildResult* result) {
  return WireDecode<BuildFields>(bytes, result) && result->status >= BuildStatus::kOk &&
         result->status <= BuildStatus::kInterrupted;
}

}  // namespace kiln
