// Prints events and results of a Session as JSON: the output of `--json` and `--events`, and the result of a Job.
// Documents end without a newline. Keys have a fixed order, and new versions only add keys. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "api/building.h"
#include "api/event.h"
#include "api/gpu.h"
#include "api/machine.h"
#include "api/records.h"
#include "api/running.h"
#include "api/tuning.h"

namespace kiln::api {

std::string ToJson(const Event& event);  // one line
std::string ToJson(const TuneReport& report);
std::string ToJson(const SpaceReport& report);
std::string ToJson(const std::vector<BestRecord>& records);
std::string ToJson(const Shown& shown);
std::string ToJson(const ReplayResult& result);
std::string ToJson(const ExportResult& result);
std::string ToJson(const CheckResult& result);
std::string ToJson(const BuildReport& report);
std::string ToJson(const PlannedModel& model);
std::string ToJson(const RunReport& report);
std::string ToJson(const std::vector<RunInfo>& runs);
std::string ToJson(const TrainResult& result);
std::string ToJson(const BundleReport& report);
std::string ToJson(const ImportReport& report);
std::string ToJson(const ExportReport& report);
std::string ToJson(const BenchReport& report);
std::string ToJson(const RaceReport& report);
std::string ToJson(const std::vector<Finding>& findings);
std::string ToJson(const std::vector<Constant>& constants);
// Returns the JSON document of a failed operation: {"error": message, "kind": kind}. If `resume`, the command that
// continues the run, is not empty, the document has it too.
std::string ErrorJson(absl::string_view message, absl::string_view kind, absl::string_view resume = "");

}  // namespace kiln::api
