#include "backends/runner/protocol.h"

#include <algorithm>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "backends/workers/wire.h"
#include "search/outcome.h"

namespace kiln {
namespace {

struct RunFields {
  static void Of(auto& visit, auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, Tolerance>) {
      visit(value.relative, value.absolute);
    } else if constexpr (std::is_same_v<T, KernelParam>) {
      visit(value.dtype, value.elements, value.role, value.data, value.tolerance, value.range);
    } else if constexpr (std::is_same_v<T, DataRange>) {
      visit(value.least, value.most, value.zero);
    } else if constexpr (std::is_same_v<T, KernelObject>) {
      visit(value.shared_object, value.symbol, value.prepare_symbol, value.threads_symbol, value.params,
            value.heap_alignment, value.product, value.takes_table, value.fields);
    } else if constexpr (std::is_same_v<T, KernelField>) {
      visit(value.tag, value.bytes);
    } else if constexpr (std::is_same_v<T, LibraryProduct>) {
      visit(value.libraries, value.symbol, value.m, value.n, value.k, value.a_transposed, value.b_transposed,
            value.a, value.b, value.c);
    } else if constexpr (std::is_same_v<T, StopRule>) {
      visit(value.after_runs, value.over_seconds);
    } else if constexpr (std::is_same_v<T, TimingPolicy>) {
      visit(value.warmups, value.runs, value.stop_rules, value.enough_seconds, value.target_error,
            value.max_samples, value.max_seconds, value.retakes, value.cold_cache, value.rotated_bytes);
    } else if constexpr (std::is_same_v<T, ReferenceKernel>) {
      visit(value.kernel, value.seconds);
    } else if constexpr (std::is_same_v<T, RunLimits>) {
      visit(value.seconds, value.bytes);
    } else if constexpr (std::is_same_v<T, StressInputs>) {
      visit(value.sets, value.reference, value.write_reference_to);
    } else if constexpr (std::is_same_v<T, RunRequest>) {
      visit(value.kernel, value.peers, value.data_seed, value.threads, value.timing, value.limits,
            value.reference_kernel, value.reference, value.write_reference_to, value.stress, value.profile);
    } else if constexpr (std::is_same_v<T, ProfiledRuns>) {
      visit(value.symbol, value.calls, value.runs);
    } else {
      static_assert(std::is_same_v<T, RunResult>);
      visit(value.status, value.detail, value.signal, value.seconds, value.quiet, value.slowdown,
            value.least_slowdown, value.retaken, value.preempted, value.peer_seconds, value.prepare_seconds,
            value.lower_bound, value.max_error, value.raw_samples, value.peer_raw_samples,
            value.peer_preempted, value.call_seconds);
    }
  }
};

bool RolesAreKnown(const KernelObject& kernel) {
  return std::all_of(kernel.params.begin(), kernel.params.end(), [](const KernelParam& param) {
    return param.role >= KernelParam::kInput && param.role <= KernelParam::kWorkspace;
  });
}

}  // namespace

std::string Encode(const RunRequest& request) {
  return absl::StrCat(kRunProtocol, WireEncode<RunFields>(request));
}
std::string Encode(const RunResult& result) { return WireEncode<RunFields>(result); }

bool Decode(const std::string& bytes, RunRequest* request) {
  absl::string_view fields = bytes;
  return absl::ConsumePrefix(&fields, kRunProtocol) && WireDecode<RunFields>(fields, request) &&
         RolesAreKnown(request->kernel) &&
         std::all_of(request->peers.begin(), request->peers.end(), RolesAreKnown);
}

bool Decode(const std::string& bytes, RunResult* result) {
  return WireDecode<RunFields>(bytes, result) && result->status >= RunStatus::kOk &&
         result->status <= RunStatus::kInterrupted;
}

absl::string_view RunStatusName(RunStatus status) {
  switch (status) {
    case RunStatus::kOk:
      return outcome::kOk;
    case RunStatus::kCrashed:
      return outcome::kCrashed;
    case RunStatus::kTimedOut:
      return outcome::kTimedOut;
    case RunStatus::kOutOfMemory:
      return outcome::kOutOfMemory;
    case RunStatus::kWrongResult:
      return outcome::kWrongResult;
    case RunStatus::kLoadFailed:
      return outcome::kLoadFailed;
    case RunStatus::kGuardViolated:
      return outcome::kGuardViolated;
    case RunStatus::kNonZeroStatus:
      return outcome::kNonZeroStatus;
    case RunStatus::kInterrupted:
      return outcome::kInterrupted;
  }
  return "unknown";
}

}  // namespace kiln
