#include "bench/support/json_results.h"

#include <cstdlib>
#include <fstream>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace kiln {

std::vector<Json> ReadResults(const std::string& path) {
  std::ifstream lines(path);
  std::vector<Json> results;
  for (std::string line; std::getline(lines, line);) {
    Json result = Json::parse(line, nullptr, false);
    if (result.is_object()) results.push_back(std::move(result));
  }
  return results;
}

std::optional<Json> FindResult(const Json& key, const std::vector<Json>& results) {
  std::optional<Json> found;
  for (const Json& result : results) {
    bool same = true;
    for (const auto& [name, value] : key.items()) same = same && result.value(name, Json()) == value;
    if (same) found = result;
  }
  return found;
}

std::optional<Json> FindResult(const Json& key, const std::string& path) {
  return FindResult(key, ReadResults(path));
}

void AppendResult(Json result, const std::string& path) {
  double load = 0;
  getloadavg(&load, 1);
  result["date"] = absl::FormatTime("%Y-%m-%d %H:%M", absl::Now(), absl::UTCTimeZone());
  result["load_average"] = load;
  std::ofstream(path, std::ios::app) << result.dump() << std::endl;
}

}  // namespace kiln
