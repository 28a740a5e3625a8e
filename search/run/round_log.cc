#include "search/run/round_log.h"

#include <cmath>

#include "nlohmann/json.hpp"

namespace kiln {

std::string ToJson(const RoundLog& log) {
  using Json = nlohmann::ordered_json;
  const RoundStats& c = log.chains;
  const PhaseSeconds& s = log.seconds;
  Json json = {{"task", log.task}, {"batch", log.batch}, {"failed", log.failed}};
  json["best_seconds"] = std::isfinite(log.best_seconds) ? Json(log.best_seconds) : Json();
  json["rank_accuracy"] = log.rank_accuracy ? Json(*log.rank_accuracy) : Json();
  if (log.quiet.samples > 0) json["quiet"] = {{"quiet", log.quiet.quiet}, {"samples", log.quiet.samples}};
  json["chains"] = {{"proposed", c.proposed},       {"valid", c.valid},
                    {"duplicates", c.duplicates},   {"accepted", c.accepted},
                    {"temperature", c.temperature}, {"effective_sample_size", c.effective}};
  json["seconds"] = {{"propose", s.propose}, {"features", s.features}, {"predict", s.predict},
                     {"build", s.build},     {"run", s.run},           {"train", s.train},
                     {"store", s.store}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kiln
