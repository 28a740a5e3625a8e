#include "api/json.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "api/internal/json.h"
#include "lang/base/aliases.h"
#include "trace/text.h"

namespace kiln::api {
namespace {

Json Number(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

// Returns the module in a place MODULE/BLOCK: "cpu/multi-level-tiling" for "cpu/multi-level-tiling/relu".
std::string_view ModuleOf(const std::string& where) {
  return std::string_view(where).substr(0, std::min(where.rfind('/'), where.size()));
}
std::string BlockOf(const std::string& where) { return where.substr(where.rfind('/') + 1); }

// Adds the time of a result to its JSON object: seconds or, if `cycles` is not 0, the estimated cycles of a static
// result.
void AddTime(double seconds, double cycles, Json* json) {
  if (cycles > 0) {
    (*json)["static"] = true;
    (*json)["cycles"] = cycles;
  } else {
    (*json)["seconds"] = seconds;
  }
}

Json JsonOf(const Started& s) {
  Json json = {{"event", "started"}, {"file", s.file},      {"database", s.database}, {"space", s.space},
               {"cpu", s.cpu},       {"cores", s.cores},    {"trials", s.trials},     {"seconds", s.seconds},
               {"tasks", s.tasks},   {"left_out", nullptr}, {"warnings", s.warnings}};
  if (s.target != "host") json["target"] = s.target;
  if (!s.gpu.empty()) json["gpu"] = s.gpu;
  if (!s.why_static.empty()) json["why_static"] = s.why_static;
  json["left_out"] = Json::array();
  for (const LeftOut& l : s.left_out) json["left_out"].push_back(api::JsonOf(l));
  return json;
}

Json JsonOf(const TaskEnded& t) {
  Json json = {{"event", "task"}, {"task", t.task}, {"trials", t.trials}, {"record", t.record}};
  if (t.record != 0) AddTime(t.seconds, t.cycles, &json);
  if (t.record == 0) json["reason"] = t.reason;
  return json;
}

Json JsonOf(const Ended& e) { return {{"event", "ended"}, {"run", e.run}, {"interrupted", e.interrupted}}; }

Json OfRoundNow(const Round& round) {
  Json json = {{"event", "round"}};
  json.update(api::JsonOf(round));
  return json;
}

// Adds to the JSON object of a task what is known of its best record, such as its time, trust, roofline, trace and
// flags.
void AddResult(const TaskResult& t, Json* json) {
  Json& j = *json;
  AddTime(t.seconds, t.cycles, json);
  if (t.cycles == 0) j["gflops"] = t.gflops;
  j["verified"] = t.verified;
  j["proven"] = t.proven;
  j["assumptions"] = t.assumptions;
  if (t.roofline.seconds() > 0)
    j["machine"] = {{"share", t.roofline.seconds() / t.seconds},
                    {"bound", t.roofline.IsCompute() ? "peak" : "bandwidth"},
                    {"gflops", t.roofline.flops_per_second * 1e-9},
                    {"gigabytes_per_second", t.roofline.bytes_per_second * 1e-9}};
  for (const LibraryRatio& l : t.libraries)
    j["libraries"][l.name] = {{"seconds", l.seconds}, {"ratio", l.ratio}};
  j["trace"] = Print(t.trace);
  j["flags"] = t.flags;
  j["noisy"] = t.noisy;
  if (!t.noise.empty()) j["noise"] = t.noise;
  j["quiet_samples"] = {{"quiet", t.quiet_samples}, {"samples", t.samples}};
  if (t.searched_seconds > 0) j["searched_seconds"] = t.searched_seconds;
  if (t.untuned_seconds) j["untuned_seconds"] = *t.untuned_seconds;
  j["symbol"] = t.symbol;
  j["parameters"] = api::JsonOf(t.parameters);
  j["files"] = t.files;
}

Json JsonOf(const TaskResult& t) {
  Json json = {{"name", t.name},     {"occurrences", t.occurrences},
               {"trials", t.trials}, {"failures", t.failures},
               {"ended", t.ended},   {"record", t.record}};
  if (t.in_place_seconds > 0) json["in_place_seconds"] = t.in_place_seconds;
  if (t.record == 0) {
    json["reason"] = t.reason;
  } else {
    AddResult(t, &json);
  }
  return json;
}

Json JsonOf(const BuildReport& r) {
  Json tasks = Json::array();
  for (const BuiltTask& t : r.tasks)
    tasks.push_back({{"name", t.name},
                     {"hash", t.hash},
                     {"occurrences", t.occurrences},
                     {"schedule", t.schedule},
                     {"record", t.record},
                     {"seconds", t.seconds},
                     {"assumptions", t.assumptions}});
  Json json = {{"file", r.file},
               {"symbol", r.name},
               {"target", r.target},
               {"parameters", api::JsonOf(r.parameters)},
               {"calls", r.calls},
               {"arena_bytes", r.arena_bytes},
               {"alive_bytes", r.alive_bytes},
               {"weights_bytes", r.weights_bytes},
               {"tasks", std::move(tasks)},
               {"files", r.files},
               {"seconds", r.seconds}};
  const ModelAccuracy& found = r.accuracy;
  if (found.checked && found.note.empty())
    json["accuracy"] = {{"error", found.error}, {"limit", found.limit}};
  if (found.checked && !found.note.empty()) json["accuracy"] = {{"note", found.note}};
  return json;
}

Json JsonOf(const TaskSketches& t) {
  if (!t.status.ok()) return {{"name", t.task.name}, {"error", t.status.message()}};
  const Enumeration& space = t.sketches;
  Json sketches = Json::array();
  for (const Sketch& sketch : space.sketches) {
    Json sites = Json::array();
    for (const SketchSite& site : sketch.sites)
      sites.push_back({{"name", CurrentPath(site.name)}, {"support", site.support}});
    sketches.push_back({{"trace", Print(sketch.trace)},
                        {"sites", std::move(sites)},
                        {"support", std::exp(sketch.log_support)},
                        {"support_exact", sketch.exact_support},
                        {"sequences", sketch.sequences}});
  }
  Json dropped = Json::array();
  for (const DroppedSequence& d : space.dropped) dropped.push_back(std::string(d.reason.message()));
  Json declined = Json::array();
  for (const Schedule::Declined& d : space.declined)
    declined.push_back({{"module", ModuleOf(d.where)}, {"block", BlockOf(d.where)}, {"why", d.why}});
  return {{"name", t.task.name},
          {"occurrences", t.task.occurrences},
          {"hash", t.task.hash},
          {"blocks", t.task.blocks},
          {"flops", t.task.flops},
          {"parameters", api::JsonOf(t.task.parameters)},
          {"support", t.support()},
          {"complete", space.complete},
          {"sketches", std::move(sketches)},
          {"dropped", std::move(dropped)},
          {"declined", std::move(declined)}};
}

Json JsonOf(const Interval& m) { return {{"median", m.median}, {"low", m.low}, {"high", m.high}}; }

Json JsonOf(const TaskTimes& t) {
  Json json = {
      {"task", t.task},       {"record", t.record},           {"rounds", t.rounds},
      {"threads", t.threads}, {"seconds", JsonOf(t.seconds)}, {"gflops", t.flops / t.seconds.median * 1e-9}};
  for (const PeerTimes& p : t.beside)
    json["beside"][p.name] = {{"seconds", JsonOf(p.seconds)}, {"ratio", JsonOf(p.ratio)}};
  for (const auto& [name, why] : t.left_out) json["left_out"][name] = why;
  return json;
}

Json JsonOf(const RunReport& r) {
  Json json = {{"library", r.library},
               {"symbol", r.name},
               {"parameters", api::JsonOf(r.parameters)},
               {"weights_bytes", r.weights_bytes},
               {"arena_bytes", r.arena_bytes},
               {"runs", r.runs},
               {"threads", r.threads},
               {"seconds", JsonOf(r.seconds)},
               {"prepare_seconds", r.prepare_seconds}};
  for (const CallTimes& call : r.calls)
    json["calls"].push_back({{"call", call.number},
                             {"task", call.task},
                             {"schedule", call.schedule},
                             {"seconds", JsonOf(call.seconds)}});
  return json;
}

Json JsonOf(const WholeTimes& t) {
  Json json = {
      {"symbol", t.name},     {"tasks", t.tasks},         {"records", t.records},        {"rounds", t.rounds},
      {"threads", t.threads}, {"disturbed", t.disturbed}, {"seconds", JsonOf(t.seconds)}};
  if (t.untuned)
    json["untuned"] = {{"seconds", JsonOf(t.untuned->seconds)}, {"ratio", JsonOf(t.untuned->ratio)}};
  return json;
}

template <typename List, typename Of>
Json ListOf(const List& list, const Of& of) {
  Json json = Json::array();
  for (const auto& item : list) json.push_back(of(item));
  return json;
}

}  // namespace

Json JsonOf(const LeftOut& l) { return {{"location", l.location}, {"op", l.op}, {"reason", l.reason}}; }

Json JsonOf(const std::vector<Parameter>& parameters) {
  return ListOf(parameters, [](const Parameter& p) {
    Json json = {{"name", p.name}, {"dtype", p.dtype}, {"shape", p.shape}, {"role", p.role}};
    if (!p.argument.empty()) json["argument"] = p.argument;
    return json;
  });
}

Json JsonOf(const Round& r) {
  Json json = {{"index", r.index}, {"round", r.round}, {"trials", r.trials},
               {"task", r.task},   {"batch", r.batch}, {"failed", r.failed}};
  json["best_seconds"] = Number(r.best_seconds);
  if (r.best_cycles) json["best_cycles"] = *r.best_cycles;
  json["rank_accuracy"] = Number(r.rank_accuracy);
  if (r.samples > 0) json["quiet"] = {{"quiet", r.quiet}, {"samples", r.samples}};
  const Round::Chains& c = r.chains;
  json["chains"] = {{"proposed", c.proposed},       {"valid", c.valid},
                    {"duplicates", c.duplicates},   {"accepted", c.accepted},
                    {"temperature", c.temperature}, {"effective_sample_size", c.effective_sample_size}};
  const Round::Seconds& s = r.seconds;
  json["seconds"] = {{"propose", s.propose}, {"features", s.features}, {"predict", s.predict},
                     {"build", s.build},     {"run", s.run},           {"train", s.train},
                     {"store", s.store}};
  if (r.now)
    json["now"] = {{"trials", r.now->trials},
                   {"gflops", r.now->gflops},
                   {"elapsed", r.now->elapsed},
                   {"failures", r.now->failures}};
  return json;
}

Json JsonOf(const TuneReport& r) {
  Json json = {{"file", r.file},
               {"database", r.database},
               {"interrupted", r.interrupted},
               {"warnings", r.warnings},
               {"tasks", ListOf(r.tasks, [](const TaskResult& t) { return JsonOf(t); })},
               {"rounds", ListOf(r.rounds, [](const Round& round) { return JsonOf(round); })}};
  if (!r.target.empty() && r.target != "host") json["target"] = r.target;
  if (!r.gpu.empty()) json["gpu"] = r.gpu;
  if (r.whole) json["whole"] = JsonOf(*r.whole);
  if (r.raced_wholes)
    json["raced_wholes"] = {{"wholes", r.raced_wholes->wholes},
                            {"seconds", JsonOf(r.raced_wholes->seconds)},
                            {"ratio", JsonOf(r.raced_wholes->ratio)}};
  if (r.raced_layouts)
    json["raced_layouts"] = {{"channels_last", r.raced_layouts->channels_last},
                             {"ratio", JsonOf(r.raced_layouts->ratio)}};
  if (r.minute_gain) json["minute_gain"] = *r.minute_gain;
  if (r.whole_run) json["whole_run"] = JsonOf(*r.whole_run);
  if (!r.nothing.empty()) json["nothing"] = r.nothing;
  if (!r.resume.empty()) json["resume"] = r.resume;
  if (!r.status.ok()) json["error"] = r.status.message();
  return json;
}

std::string Document(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

std::string ToJson(const Event& event) {
  const Json json = std::visit(
      [](const auto& e) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(e)>, Round>) {
          return OfRoundNow(e);
        } else {
          return JsonOf(e);
        }
      },
      event);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string ToJson(const TuneReport& report) { return Document(JsonOf(report)); }

std::string ToJson(const SpaceReport& r) {
  Json json = {{"file", r.file},
               {"space", r.space},
               {"items", r.items},
               {"target", r.target},
               {"tasks", ListOf(r.tasks, [](const TaskSketches& t) { return JsonOf(t); })},
               {"boundaries", ListOf(r.left_out, [](const LeftOut& l) { return JsonOf(l); })}};
  if (!r.status.ok()) json["error"] = r.status.message();
  return Document(json);
}

std::string ToJson(const std::vector<BestRecord>& records) {
  return Document(ListOf(records, [](const BestRecord& r) -> Json {
    Json json = {{"id", r.id},
                 {"workload", r.workload},
                 {"workload_hash", r.workload_hash},
                 {"target", r.target},
                 {"fingerprint", r.fingerprint},
                 {"measured_here", r.measured_here},
                 {"verified", r.verified},
                 {"proven", r.proven},
                 {"assumptions", r.assumptions},
                 {"trial", r.trial},
                 {"flags", r.flags},
                 {"noisy", r.noisy}};
    AddTime(r.seconds, r.cycles, &json);
    if (r.cycles == 0) json["gflops"] = r.flops / r.seconds * 1e-9;
    return json;
  }));
}

std::string ToJson(const Shown& s) {
  return Document({{"id", s.id},
                   {"workload", s.workload},
                   {"flags", s.flags},
                   {"assumptions", s.assumptions},
                   {"stage", s.stage},
                   {"text", s.text}});
}

std::string ToJson(const ReplayResult& r) {
  return Document({{"id", r.id},
                   {"workload", r.workload},
                   {"verified", r.verified},
                   {"recorded_seconds", r.recorded_seconds},
                   {"seconds", r.seconds},
                   {"samples", r.samples},
                   {"flags", r.flags},
                   {"same_machine", r.same_machine}});
}

std::string ToJson(const ExportResult& r) {
  return Document({{"id", r.id},
                   {"name", r.name},
                   {"verified", r.verified},
                   {"target", r.target},
                   {"measured_on", r.measured_on},
                   {"measured_here", r.measured_here},
                   {"proof", r.proof},
                   {"assumptions", r.assumptions},
                   {"symbol", r.name},
                   {"parameters", JsonOf(r.parameters)},
                   {"files", r.files}});
}

std::string ToJson(const BuildReport& r) { return Document(JsonOf(r)); }

std::string ToJson(const PlannedModel& m) {
  return Document({{"symbol", m.name},
                   {"arena_bytes", m.arena_bytes},
                   {"alive_bytes", m.alive_bytes()},
                   {"weights_bytes", m.weights_bytes},
                   {"scratch_bytes", m.scratch_bytes},
                   {"calls", ListOf(m.calls,
                                    [](const PlannedCall& c) -> Json {
                                      return {{"call", c.number},       {"prepares", c.prepares},
                                              {"task", c.task},         {"arrays", c.arguments},
                                              {"schedule", c.schedule}, {"threads", c.takes_threads},
                                              {"bytes", c.bytes},       {"scratch", c.workspace}};
                                    })},
                   {"memory", ListOf(m.arrays, [](const PlannedArray& a) {
                      Json json = {{"area", a.area}, {"begin", a.begin}, {"end", a.end}, {"what", a.what}};
                      if (a.first >= 0) json["calls"] = {a.first, a.last};
                      return json;
                    })}});
}

std::string ToJson(const RunReport& r) { return Document(JsonOf(r)); }

std::string ToJson(const CheckResult& r) {
  return Document(
      {{"verdict", r.words}, {"reason", r.reason}, {"assumptions", r.assumptions}, {"workload", r.workload}});
}

std::string ToJson(const std::vector<RunInfo>& runs) {
  return Document(ListOf(runs, [](const RunInfo& run) {
    Json json = {{"id", run.id},
                 {"command", run.command},
                 {"options", Json::parse(run.options, nullptr, false)},
                 {"seed", run.seed},
                 {"started", run.started},
                 {"finished", run.finished},
                 {"rounds", ListOf(run.rounds, [](const Round& round) { return JsonOf(round); })}};
    if (json["options"].is_discarded()) json["options"] = run.options;
    return json;
  }));
}

std::string ToJson(const TrainResult& r) {
  return Document({{"model", r.model}, {"tasks", r.tasks}, {"records", r.records}, {"left_out", r.left_out}});
}

std::string ToJson(const BundleReport& r) {
  return Document(
      {{"folder", r.folder},
       {"bytes", r.bytes},
       {"tasks", ListOf(r.tasks, [](const BundledTask& t) {
          return Json{{"name", t.name}, {"programs", t.programs}, {"drawn", t.drawn}, {"refused", t.refused}};
        })}});
}

std::string ToJson(const ExportReport& r) { return Document({{"records", r.records}}); }
std::string ToJson(const ImportReport& r) { return Document({{"added", r.added}, {"present", r.present}}); }

std::string ToJson(const BenchReport& r) {
  Json json = {{"file", r.file},
               {"machine", r.machine},
               {"tasks", ListOf(r.tasks, [](const TaskTimes& t) { return JsonOf(t); })}};
  if (r.whole) json["whole"] = JsonOf(*r.whole);
  return Document(json);
}

std::string ToJson(const RaceReport& r) {
  const auto program = [](const RacedProgram& p) -> Json {
    return {{"database", p.database}, {"record", p.record}, {"seconds", JsonOf(p.seconds)},
            {"gflops", p.gflops},     {"flags", p.flags},   {"noise", p.noise}};
  };
  return Document({{"workload", r.workload},
                   {"one", program(r.one)},
                   {"other", program(r.other)},
                   {"ratio", JsonOf(r.ratio)},
                   {"noisy", r.noisy()}});
}

std::string ToJson(const std::vector<Finding>& findings) {
  return Document(ListOf(findings, [](const Finding& f) -> Json {
    return {{"what", f.what}, {"found", f.found}, {"disturbs", f.disturbs}, {"advice", f.advice}};
  }));
}

std::string ToJson(const std::vector<Constant>& constants) {
  return Document(ListOf(constants, [](const Constant& c) -> Json {
    return {{"name", c.name},
            {"value", c.value},
            {"unit", c.unit},
            {"machine", c.machine},
            {"command", c.command}};
  }));
}

std::string ErrorJson(absl::string_view message, absl::string_view kind, absl::string_view resume) {
  Json json = {{"error", message}, {"kind", kind}};
  if (!resume.empty()) json["resume"] = resume;
  return Document(json);
}

}  // namespace kiln::api
