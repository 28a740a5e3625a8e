// JSON objects shared by the functions of api/json.h.
#pragma once

#include <string>
#include <vector>

#include "api/event.h"
#include "api/model.h"
#include "api/tuning.h"
#include "nlohmann/json.hpp"

namespace kiln::api {

using Json = nlohmann::ordered_json;

Json JsonOf(const Round& round);
Json JsonOf(const std::vector<Parameter>& parameters);
Json JsonOf(const LeftOut& left_out);
Json JsonOf(const TuneReport& report);
// Prints the document with indentation. Replaces bytes that are not UTF-8.
std::string Document(const Json& json);

}  // namespace kiln::api
