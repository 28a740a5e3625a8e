#include "api/machine.h"

#include "absl/strings/str_cat.h"
#include "backends/codegen/version.h"
#include "backends/cpu/targets.h"
#include "backends/measure/noise_sources.h"
#include "backends/measure/this_gpu.h"
#include "build_info.h"
#include "lang/base/phase.h"
#include "search/cost/models.h"
#include "search/cost/xgboost_model.h"
#include "search/strategies/strategy.h"

namespace kiln::api {

Versions BuiltWith() { return {KILN_VERSION, LlvmVersion(), XgboostVersion()}; }

std::vector<std::string> TargetNames() { return kiln::TargetNames(); }
std::vector<std::string> StrategyNames() { return kiln::StrategyNames(); }
std::vector<std::string> CostModelNames() { return kiln::CostModelNames(); }
std::vector<std::string> FeatureNames() { return FeatureKindNames(); }

std::vector<Constant> Constants() {
  const Target target = CpuTarget();
  std::vector<Constant> constants;
  for (const CostRow& row : CostRows())
    constants.push_back({std::string(row.name), row.ValueIn(target.costs), std::string(row.unit),
                         std::string(row.machine), std::string(row.command)});
  return constants;
}

namespace {

constexpr int kBusyPercent =
    10;  // of the time in which kernels run, above which another program uses the GPU

// Returns what is known of the GPU of this machine: driver, clock and use. Without a GPU, one finding says so.
std::vector<Finding> GpuFindings() {
  const absl::StatusOr<ThisGpu> gpu = FindThisGpu();
  if (absl::IsNotFound(gpu.status())) return {{.what = "GPU", .found = "none"}};
  if (!gpu.ok())
    return {{.what = "GPU",
             .found = std::string(gpu.status().message()),
             .disturbs = true,
             .advice = "programs cannot be measured on it"}};
  std::vector<Finding> findings = {
      {.what = "GPU", .found = gpu->fingerprint},
      {.what = "GPU driver",
       .found = absl::StrCat("CUDA ", gpu->driver / 1000, ".", gpu->driver % 1000 / 10)}};
  if (gpu->most_clock_mhz == 0) {
    findings.push_back({.what = "GPU clock", .found = "unknown; libnvidia-ml.so.1 does not tell"});
    return findings;
  }
  const bool slowed = !gpu->slowed.empty(), busy = gpu->used_percent > kBusyPercent;
  findings.push_back({.what = "GPU clock",
                      .found = absl::StrCat(gpu->clock_mhz, " of ", gpu->most_clock_mhz, " MHz, ",
                                            gpu->celsius, " C", slowed ? ", slowed: " : "", gpu->slowed),
                      .disturbs = slowed,
                      .advice = slowed ? "let it cool down, or lock its clocks (nvidia-smi -lgc)" : ""});
  findings.push_back({.what = "GPU in use",
                      .found = absl::StrCat(gpu->used_percent, "% of the time"),
                      .disturbs = busy,
                      .advice = busy ? "end other programs that use it" : ""});
  return findings;
}

}  // namespace

std::vector<Finding> NoiseSources() {
  std::vector<Finding> findings;
  for (const kiln::Finding& f : kiln::NoiseSources(ObserveMachine()))
    findings.push_back({f.what, f.found, f.disturbs, f.advice});
  for (Finding& f : GpuFindings()) findings.push_back(std::move(f));
  return findings;
}

const char* CurrentPhase() { return Phase::Current(); }
void WatchPhases(void (*changed)(const char* now)) { Phase::Watch(changed); }

}  // namespace kiln::api
