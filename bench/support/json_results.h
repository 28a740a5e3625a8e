// Stores results as lines of JSON. Each is appended as soon as it is known, so that a stopped command can
// resume.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace kiln {

using Json = nlohmann::ordered_json;

// Returns all lines that are complete JSON objects, without a line that was cut off; none if there is no file.
std::vector<Json> ReadResults(const std::string& path);

// Returns the last result that has all values of `key`; nullopt if there is none.
std::optional<Json> FindResult(const Json& key, const std::vector<Json>& results);
std::optional<Json> FindResult(const Json& key, const std::string& path);

// Appends the result to the file as a line of JSON, with the date and the machine's load average.
void AppendResult(Json result, const std::string& path);

}  // namespace kiln
