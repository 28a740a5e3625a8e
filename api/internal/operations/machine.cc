#include "api/machine.h"

#include "backends/codegen/version.h"
#include "backends/cpu/targets.h"
#include "backends/measure/noise_sources.h"
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

std::vector<Finding> NoiseSources() {
  std::vector<Finding> findings;
  for (const kiln::Finding& f : kiln::NoiseSources(ObserveMachine()))
    findings.push_back({f.what, f.found, f.disturbs, f.advice});
  return findings;
}

const char* CurrentPhase() { return Phase::Current(); }
void WatchPhases(void (*changed)(const char* now)) { Phase::Watch(changed); }

}  // namespace kiln::api
