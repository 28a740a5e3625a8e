// Converts rounds, parameters, left-out operations and reports of searches to JSON objects, which the functions of
// api/json.h print.
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
// Returns the document as indented JSON text. Bytes that are not UTF-8 are replaced.
std::string Document(const Json& json);

}  // namespace kiln::api
