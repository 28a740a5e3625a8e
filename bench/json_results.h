// Stores results as lines of JSON. Each is appended as soon as it is known, so that a stopped command can
// resume.
#pragma once

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace kiln {

using Json = nlohmann::ordered_json;

// Returns all lines that are complete JSON objects, without a line that was cut off; none if there is no file.
inline std::vector<Json> ReadResults(const std::string& path) {
  std::ifstream lines(path);
  std::vector<Json> results;
  for (std::string line; std::getline(lines, line);) {
    Json result = Json::parse(line, nullptr, false);
    if (result.is_object()) results.push_back(std::move(result));
  }
  return results;
}

// Returns the last result that has all values of `key`; nullopt if there is none.
inline std::optional<Json> FindResult(const Json& key, const std::vector<Json>& results) {
  std::optional<Json> found;
  for (const Json& result : results) {
    bool same = true;
    for (const auto& [name, value] : key.items()) same = same && result.value(name, Json()) == value;
    if (same) found = result;
  }
  return found;
}

inline std::optional<Json> FindResult(const Json& key, const std::string& path) {
  return FindResult(key, ReadResults(path));
}

// Appends the result to the file as a line of JSON, with the date and the machine's load average.
inline void AppendResult(Json result, const std::string& path) {
  double load = 0;
  getloadavg(&load, 1);
  result["date"] = absl::FormatTime("%Y-%m-%d %H:%M", absl::Now(), absl::UTCTimeZone());
  result["load_average"] = load;
  std::ofstream(path, std::ios::app) << result.dump() << std::endl;
}

}  // namespace kiln
