#include "search/run/run_key.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lang/text/hash.h"
#include "nlohmann/json.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

std::string HexOf(absl::uint128 hash) {
  return absl::StrFormat("%016x%016x", absl::Uint128High64(hash), absl::Uint128Low64(hash));
}

// Returns the hash of a sketch's steps, without their decisions.
std::string HashOfSketch(Trace sketch) {
  for (Step& step : sketch.steps) step.decision.clear();
  return HexOf(Hash(sketch));
}

Json OptionsJson(const TuneOptions& options) {
  const StrategyOptions& s = options.search;
  const PopulationOptions& p = s.population;
  Json replay = Json::array();
  for (const Trace& trace : s.replay) replay.push_back(HexOf(Hash(trace)));
  Json start = Json::array();
  for (const Trace& trace : options.start) start.push_back(HexOf(Hash(trace)));
  return {{"trials", options.trials},
          {"seconds", options.seconds},
          {"until-roofline", options.until_roofline},
          {"least-gain", options.least_gain},
          {"strategy", options.strategy},
          {"scheduling", options.scheduling == Scheduling::kGradient ? "gradient" : "round-robin"},
          {"features", FeatureKindNames()[static_cast<int>(options.features)]},
          {"chains", p.chains},
          {"steps", p.steps},
          {"generations", p.generations},
          {"start", p.start},
          {"floor", p.floor},
          {"structure", p.structure},
          {"from-best", p.from_best},
          {"from-prior", p.from_prior},
          {"archive", p.archive},
          {"resample", p.resample},
          {"random-share", s.random_share},
          {"first-random-share", s.first_random_share},
          {"scouts", s.scouts},
          {"neighbour-share", s.neighbour_share},
          {"doubt-share", s.uncertainty_share},
          {"diversity", s.diversity},
          {"descent", s.descent},
          {"parents", s.parents},
          {"mutation", s.mutation},
          {"replay", std::move(replay)},
          {"start-traces", std::move(start)},
          {"exhaustive-limit", s.exhaustive_limit},
          {"finalists", options.finalists}};
}

// Returns a JSON object with the name and value of each cost that differs from the default cost.
Json CostsJson(const CostTable& costs) {
  Json json = Json::object();
  for (const CostRow& row : CostRows())
    if (row.ValueIn(costs) != row.ValueIn({})) json[std::string(row.name)] = row.ValueIn(costs);
  return json;
}

// Returns as JSON the options that are part of a run's key, but for the seed and the command, which RunKey adds. The
// number of threads, for example, is no part of the key. Options that newer versions added appear only if they differ
// from their defaults, so that keys of older runs do not change.
Json AllOptionsJson(const TuneOptions& options) {
  Json json = OptionsJson(options);
  if (options.cold) json["cold"] = true;
  if (options.in_model) json["in-model"] = true;
  if (options.in_place) json["in-place"] = true;
  const double share = options.search.other_sketch_share;
  if (share != StrategyOptions{}.other_sketch_share) json["other-sketch-share"] = share;
  const FinalsOptions& f = options.finals;
  if (f != FinalsOptions{})
    json["finals"] = {f.fast_enough, f.far_behind, f.most_races, f.seconds, f.part_of_run};
  return json;
}

}  // namespace

std::string RunKey(const std::vector<TuneTask>& tasks, const std::vector<const std::vector<Trace>*>& sketches,
                   const Target& target, const TuneOptions& options) {
  Json listed = Json::array();
  for (size_t t = 0; t < tasks.size(); ++t) {
    Json hashes = Json::array();
    for (const Trace& sketch : *sketches[t]) hashes.push_back(HashOfSketch(sketch));
    listed.push_back({{"program", ToString(HashOf(tasks[t].program))}, {"sketches", std::move(hashes)}});
  }
  const Json key = {{"command", options.command},         {"target", TargetText(target)},
                    {"fingerprint", target.fingerprint},  {"seed", options.seed},
                    {"options", AllOptionsJson(options)}, {"tasks", std::move(listed)}};
  return key.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string TargetText(const Target& target) {
  Json json = {{"name", target.name},
               {"triple", target.triple},
               {"cpu", target.cpu},
               {"features", target.features},
               {"cores", target.cores},
               {"vector-bytes", target.vector_bytes},
               {"vector-registers", target.vector_registers},
               {"fma", target.fma},
               {"l1-bytes", target.l1_bytes},
               {"l2-bytes", target.l2_bytes},
               {"l3-bytes", target.l3_bytes},
               {"max-unrolled", target.max_unrolled}};
  // Adds GPU, contraction, policies and costs to the JSON of a target only if they differ from their defaults. So the
  // keys of runs equal those of older versions, which did not have these settings.
  if (target.gpu != nullptr) json["gpu"] = target.gpu->name;
  if (!target.contract) json["contract"] = false;
  if (!target.policies.AreUsual()) json["without"] = target.policies.WithoutText();
  if (Json costs = CostsJson(target.costs); !costs.empty()) json["costs"] = std::move(costs);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<Target> TargetOf(const TargetRow& row) {
  const Json json = Json::parse(row.text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::DataLossError("the text of its target is not JSON");
  Target target;
  const auto text = [&](const char* key, std::string& value) {
    if (json.contains(key) && json[key].is_string()) value = json[key];
  };
  const auto number = [&](const char* key, auto& value) {
    if (json.contains(key) && json[key].is_number()) value = json[key];
  };
  text("name", target.name);
  text("triple", target.triple);
  text("cpu", target.cpu);
  text("features", target.features);
  number("cores", target.cores);
  number("vector-bytes", target.vector_bytes);
  number("vector-registers", target.vector_registers);
  if (json.contains("gpu") && json["gpu"].is_string()) target.gpu = FindGpu(json["gpu"].get<std::string>());
  if (json.contains("fma") && json["fma"].is_boolean()) target.fma = json["fma"];
  if (json.contains("contract") && json["contract"].is_boolean()) target.contract = json["contract"];
  number("l1-bytes", target.l1_bytes);
  number("l2-bytes", target.l2_bytes);
  number("l3-bytes", target.l3_bytes);
  number("max-unrolled", target.max_unrolled);
  if (json.contains("without") && json["without"].is_string()) {
    const auto policies = Policies::Without(json["without"].get<std::string>());
    if (!policies.ok()) return absl::DataLossError(policies.status().message());
    target.policies = *policies;
  }
  if (json.contains("costs") && json["costs"].is_object()) {
    for (const CostRow& of : CostRows())
      if (const auto cost = json["costs"].find(of.name); cost != json["costs"].end() && cost->is_number())
        of.SetIn(target.costs, *cost);
  }
  target.fingerprint = row.fingerprint;
  return target;
}

std::string OptionsText(const TuneOptions& options, const std::vector<TuneTask>& tasks) {
  Json json = AllOptionsJson(options), arguments = Json::array();
  bool any = false;
  for (const TuneTask& task : tasks) {
    arguments.push_back(task.arguments);
    any |= !task.arguments.empty();
  }
  if (any) json["arguments"] = std::move(arguments);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> ArgumentsOf(absl::string_view options, int task) {
  std::vector<std::string> names;
  const Json json = Json::parse(options, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("arguments")) return names;
  const Json& all = json["arguments"];
  if (!all.is_array() || task < 0 || task >= static_cast<int>(all.size())) return names;
  for (const Json& name : all[static_cast<size_t>(task)])
    names.push_back(name.is_string() ? name.get<std::string>() : "");
  return names;
}

std::string SketchText(const Trace& trace) {
  std::string text;
  for (const Schedule::Choice& choice : trace.choices) {
    absl::StrAppend(&text, text.empty() ? "" : " ", choice.name, "=", choice.picked);
  }
  return text;
}

}  // namespace kiln
