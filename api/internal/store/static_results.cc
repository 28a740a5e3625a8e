#include "api/internal/store/static_results.h"

#include <string>

#include "absl/strings/match.h"
#include "nlohmann/json.hpp"
#include "search/run/run_key.h"

namespace kiln::api {

double StaticClockOf(const Target& target) {
  const bool is_static = target.gpu != nullptr && absl::StartsWith(target.fingerprint, "static-");
  return is_static ? target.gpu->clock_ghz * 1e9 : 0;
}

double StaticClockOf(const TargetRow& row) {
  const absl::StatusOr<Target> target = TargetOf(row);
  return target.ok() ? StaticClockOf(*target) : 0;
}

double StaticClockOf(const RunRow& run) {
  const auto key = nlohmann::json::parse(run.command, nullptr, false);
  const auto text = [&](const char* name) {
    return key.is_object() && key.contains(name) && key[name].is_string() ? key[name].get<std::string>() : "";
  };
  return StaticClockOf(TargetRow{.text = text("target"), .fingerprint = text("fingerprint")});
}

}  // namespace kiln::api
