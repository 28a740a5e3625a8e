#include "api/job.h"

#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "api/errors.h"
#include "api/internal/json.h"
#include "lang/base/unknown_name.h"

namespace kiln::api {
namespace {

struct Spec {
  SessionOptions options;
  Source source;
  TuneSettings settings;
};

// Stores a JSON value in the specification and returns "". If the value does not fit, returns what it must be, such as
// "a string".
using Take = std::function<std::string(const Json& value, Spec& spec)>;
struct Setting {
  const char* key;
  Take take;
};

template <typename Part, typename Owner>
Take Text(Part Spec::* part, std::string Owner::* member) {
  return [=](const Json& value, Spec& spec) -> std::string {
    if (!value.is_string()) return "a string";
    spec.*part.*member = value.get<std::string>();
    return "";
  };
}

Take Flag(bool TuneSettings::* member) {
  return [=](const Json& value, Spec& spec) -> std::string {
    if (!value.is_boolean()) return "true or false";
    spec.settings.*member = value.get<bool>();
    return "";
  };
}

template <typename T>
Take Number(T TuneSettings::* member, double least, double most) {
  return [=](const Json& value, Spec& spec) -> std::string {
    const bool right = std::is_integral_v<T> ? value.is_number_integer() : value.is_number();
    if (!right || value.get<double>() < least || value.get<double>() > most)
      return absl::StrCat(std::is_integral_v<T> ? "a whole number" : "a number",
                          most > 1e18 ? absl::StrCat(" of at least ", least)
                                      : absl::StrCat(" from ", least, " to ", static_cast<int64_t>(most)));
    spec.settings.*member = value.get<T>();
    return "";
  };
}

std::string TakeSpace(const Json& value, Spec& spec) {
  if (!value.is_string()) return "a string";
  spec.settings.space.space = value.get<std::string>();
  return "";
}

std::string TakeInputs(const Json& value, Spec& spec) {
  if (!value.is_string() && !value.is_number_unsigned())
    return "a number of arguments, or their names in a string with commas between";
  spec.source.inputs = value.is_string() ? value.get<std::string>() : absl::StrCat(value.get<uint64_t>());
  return "";
}

std::string TakePlugins(const Json& value, Spec& spec) {
  constexpr char kWanted[] = "a list of strings";
  if (!value.is_array()) return kWanted;
  for (const Json& plugin : value) {
    if (!plugin.is_string()) return kWanted;
    spec.settings.space.plugins.push_back(plugin.get<std::string>());
  }
  return "";
}

const std::vector<Setting>& Settings() {
  constexpr double kAny = std::numeric_limits<double>::max();
  static const auto* const settings = new std::vector<Setting>{
      {"file", Text(&Spec::source, &Source::path)},
      {"text", Text(&Spec::source, &Source::text)},
      {"name", Text(&Spec::source, &Source::name)},
      {"function", Text(&Spec::source, &Source::function)},
      {"inputs", TakeInputs},
      {"database", Text(&Spec::options, &SessionOptions::database)},
      {"without", Text(&Spec::options, &SessionOptions::without)},
      {"workers", Text(&Spec::options, &SessionOptions::workers)},
      {"trials", Number(&TuneSettings::trials, 0, 100000000)},
      {"seconds", Number(&TuneSettings::seconds, 0, 1e9)},
      {"seed", Number(&TuneSettings::seed, 0, kAny)},
      {"target", Text(&Spec::settings, &TuneSettings::target)},
      {"static", Flag(&TuneSettings::is_static)},
      {"threads", Number(&TuneSettings::threads, 0, 4096)},
      {"contract", Flag(&TuneSettings::contract)},
      {"cold", Flag(&TuneSettings::cold)},
      {"in_model", Flag(&TuneSettings::in_model)},
      {"in_place", Flag(&TuneSettings::in_place)},
      {"space", TakeSpace},
      {"plugins", TakePlugins},
      {"strategy", Text(&Spec::settings, &TuneSettings::strategy)},
      {"scheduler", Text(&Spec::settings, &TuneSettings::scheduler)},
      {"replay", Text(&Spec::settings, &TuneSettings::replay)},
      {"start", Text(&Spec::settings, &TuneSettings::start)},
      {"until_roofline", Number(&TuneSettings::until_roofline, 0, 1e6)},
      {"least_gain", Number(&TuneSettings::least_gain, 0, 1e6)},
      {"cost_model", Text(&Spec::settings, &TuneSettings::cost_model)},
      {"features", Text(&Spec::settings, &TuneSettings::features)},
      {"transfer", Text(&Spec::settings, &TuneSettings::transfer)},
      {"output", Text(&Spec::settings, &TuneSettings::output)},
  };
  return *settings;
}

absl::Status Wrong(const std::string& key, absl::string_view why) {
  const std::string pointer =
      key.empty() ? "" : absl::StrCat("/", absl::StrReplaceAll(key, {{"~", "~0"}, {"/", "~1"}}));
  return Mistake(
      absl::InvalidArgumentError(absl::StrCat("job: ", pointer, pointer.empty() ? "" : ": ", why)));
}

absl::Status TakeSetting(const std::string& key, const Json& value, Spec& spec) {
  std::vector<absl::string_view> known;
  for (const Setting& setting : Settings()) {
    known.push_back(setting.key);
    if (key != setting.key) continue;
    const std::string wanted = setting.take(value, spec);
    if (wanted.empty()) return absl::OkStatus();
    return Wrong(key, absl::StrCat(value.dump(-1, ' ', false, Json::error_handler_t::replace),
                                   " is given; it must be ", wanted));
  }
  return Wrong(key, UnknownName("setting", key, known));
}

std::string WordOf(const TuneReport& report) {
  if (report.interrupted) return "interrupted";
  if (report.partial) return "partial";
  return report.status.ok() ? "ok" : "failed";
}

JobResult CannotRun(const absl::Status& status) {
  const char* const word = absl::IsCancelled(status) ? "interrupted" : "failed";
  return {
      Document(
          {{"status", word}, {"error", status.message()}, {"kind", absl::StatusCodeToString(status.code())}}),
      status};
}

JobResult ResultOf(const TuneReport& report, const std::string& word) {
  Json json = {{"status", word}};
  json.update(JsonOf(report));
  return {Document(json), report.status};
}

}  // namespace

absl::StatusOr<Job> Job::Parse(absl::string_view text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    return Wrong("", absl::StrCat("it is not JSON: ", error.what()));
  }
  if (!json.is_object()) return Wrong("", "it must be an object");
  Spec spec;
  for (const auto& [key, value] : json.items()) {
    if (const absl::Status taken = TakeSetting(key, value, spec); !taken.ok()) return taken;
  }
  if (spec.source.path.empty() == spec.source.text.empty())
    return Wrong("", "it must have a \"file\" or a \"text\", and not both");
  return Job(std::move(spec.options), std::move(spec.source), std::move(spec.settings));
}

JobResult Job::Run(const Session::EventSink& events) {
  const absl::Status loaded = session_.Load(source_);
  if (absl::IsOutOfRange(loaded)) {
    TuneReport report{.file = source_.path, .database = ""};
    report.nothing = std::string(loaded.message());
    return ResultOf(report, "nothing");
  }
  if (!loaded.ok()) return CannotRun(loaded);
  const absl::StatusOr<TuneReport> report = session_.Tune(settings_, events);
  return report.ok() ? ResultOf(*report, WordOf(*report)) : CannotRun(report.status());
}

void Job::Interrupt() { session_.Interrupt(); }

}  // namespace kiln::api
