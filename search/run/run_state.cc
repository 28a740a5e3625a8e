#include "search/run/run_state.h"

#include <cstdint>
#include <vector>

#include "nlohmann/json.hpp"

namespace kiln {
namespace {

using Json = nlohmann::json;
constexpr int kVersion = 2;

Json ToJson(const Candidate& candidate) {
  Json decisions = Json::array();
  for (const Decision& decision : candidate.decisions) {
    decisions.push_back(std::vector<int64_t>(decision.begin(), decision.end()));
  }
  return {candidate.sketch, std::move(decisions), candidate.energy};
}

Candidate ToCandidate(const Json& json) {
  Candidate candidate{json.at(0).get<int>(), {}, json.at(2).get<double>()};
  for (const Json& numbers : json.at(1)) {
    const auto values = numbers.get<std::vector<int64_t>>();
    candidate.decisions.emplace_back(values.begin(), values.end());
  }
  return candidate;
}

Json ToJson(const TaskRunState& task) {
  Json chains = Json::array();
  for (const Candidate& chain : task.strategy.chains) chains.push_back(ToJson(chain));
  Json json = {{"round", task.round},         {"exhausted", task.exhausted},
               {"known", task.known_records}, {"temperature", task.strategy.temperature},
               {"chains", std::move(chains)}, {"next", task.strategy.next}};
  if (task.in_model) json["in_model"] = true;
  if (task.in_place > 0) json["in_place"] = {task.in_place, task.slower};
  return json;
}

TaskRunState ToTask(const Json& json) {
  TaskRunState task;
  task.round = json.at("round").get<int>();
  task.exhausted = json.at("exhausted").get<bool>();
  task.known_records = json.at("known").get<int64_t>();
  task.strategy.temperature = json.at("temperature").get<double>();
  task.strategy.next = json.at("next").get<int64_t>();
  task.in_model = json.value("in_model", false);
  if (json.contains("in_place")) {
    task.in_place = json["in_place"].at(0).get<double>();
    task.slower = json["in_place"].at(1).get<double>();
  }
  for (const Json& chain : json.at("chains")) task.strategy.chains.push_back(ToCandidate(chain));
  return task;
}

}  // namespace

std::string Serialize(const RunState& state) {
  Json tasks = Json::array();
  for (const TaskRunState& task : state.tasks) tasks.push_back(ToJson(task));
  Json json = {{"version", kVersion},
               {"tasks", std::move(tasks)},
               {"last", state.last_task},
               {"seconds", state.seconds},
               {"trained", state.trained},
               {"raced", state.raced},
               {"model", Json::binary({state.model.begin(), state.model.end()})}};
  if (state.whole_trials > 0) json["whole"] = {state.whole_trials, state.whole_seconds};
  std::string bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

absl::StatusOr<RunState> ParseRunState(absl::string_view bytes) try {
  const Json json = Json::from_cbor(bytes.begin(), bytes.end());
  if (json.at("version") != kVersion)
    return absl::DataLossError("the state of the run was written by another version");
  RunState state;
  for (const Json& task : json.at("tasks")) state.tasks.push_back(ToTask(task));
  state.last_task = json.at("last").get<int>();
  state.seconds = json.at("seconds").get<double>();
  state.trained = json.at("trained").get<bool>();
  state.raced = json.at("raced").get<bool>();
  if (json.contains("whole")) {
    state.whole_trials = json["whole"].at(0).get<int>();
    state.whole_seconds = json["whole"].at(1).get<double>();
  }
  const auto& model = json.at("model").get_binary();
  state.model.assign(model.begin(), model.end());
  return state;
} catch (const nlohmann::json::exception& e) {
  return absl::DataLossError(std::string("the state of the run cannot be read: ") + e.what());
}

}  // namespace kiln
