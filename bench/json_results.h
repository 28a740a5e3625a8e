// Results as lines of JSON, appended as they land, so that the same command goes on where it was stopped.
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace kiln {

using Json = nlohmann::ordered_json;

// All lines, but what was cut off in the middle.
inline std::vector<Json> ReadResults(const std::string& path) {
  std::ifstream lines(path);
  std::vector<Json> results;
  for (std::string line; std::getline(lines, line);) {
    Json result = Json::parse(line, nullptr, false);
    if (result.is_object()) results.push_back(std::move(result));
  }
  return results;
}

// The last one that has all that the key says.
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

inline void AppendResult(const Json& result, const std::string& path) {
  std::ofstream(path, std::ios::app) << result.dump() << std::endl;
}

}  // namespace kiln
