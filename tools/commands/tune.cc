#include <fstream>
#include <optional>

#include "absl/strings/str_cat.h"
#include "api/json.h"
#include "api/session.h"
#include "api/text.h"
#include "tools/commands/progress.h"
#include "tools/commands/tune_options.h"
#include "tools/interrupt.h"
#include "tools/subcommands.h"
#include "tools/text/tune_text.h"

namespace kiln::tools {
namespace {

struct Options {
  api::Source source;
  std::string database = "kiln.db", without, events;
  api::TuneSettings settings;
  bool quiet = false, json = false;
};

void Show(const api::TuneReport& report, bool json) {
  if (json) {
    Print(api::ToJson(report));
  } else {
    PrintText(report);
  }
}

absl::StatusOr<api::TuneReport> Search(const Options& o, api::Session& session) {
  std::ofstream lines;
  if (!o.events.empty()) lines.open(o.events);
  if (!o.events.empty() && !lines)
    return absl::UnavailableError(absl::StrCat(o.events, " cannot be written"));
  Progress progress(stderr, Progress::StyleOf(stderr, o.quiet));
  std::optional<Stoppable> stoppable;  // set when the search has started, so that an interrupt lets it finish
  return session.Tune(o.settings, [&](const api::Event& event) {
    if (const auto* started = std::get_if<api::Started>(&event)) {
      if (started->target == "host") NoteCores(o.settings.threads, started->cores);
      for (const std::string& warning : started->warnings)
        std::fprintf(stderr, "kiln: warning: %s\n", warning.c_str());
      stoppable.emplace([&session] { session.Interrupt(); });
    }
    progress.Show(event);
    if (lines.is_open()) lines << api::ToJson(event) << std::endl;
  });
}

absl::Status Tune(const Options& o) {
  api::Session session({.database = o.database, .without = o.without, .log = Note});
  api::Source source = o.source;
  source.whole = !o.settings.output.empty();  // the run ends with a library of the whole file
  const absl::Status loaded = session.Load(source);
  if (absl::IsOutOfRange(loaded)) {
    api::TuneReport report{.file = o.source.path, .database = o.database};
    report.nothing = std::string(loaded.message());
    Show(report, o.json);
    return absl::OkStatus();
  }
  if (!loaded.ok()) return loaded;
  absl::StatusOr<api::TuneReport> report = Search(o, session);
  if (!report.ok()) return report.status();
  if (report->interrupted) {
    report->status = Interrupted();
    report->resume = TypedCommand();
  }
  if (report->run == 0) return report->status;
  Show(*report, o.json);
  return report->partial ? Partial(report->status) : report->status;
}

}  // namespace

Action AddTune(CLI::App& command) {
  auto o = std::make_shared<Options>();
  AddFile(command, &o->source);
  AddBudget(command, &o->settings);
  AddDatabase(command, &o->database);
  command.add_option("-o,--output", o->settings.output,
                     "Folder to which the best record of each task is exported");
  AddMeasuring(command, &o->settings);
  AddWithout(command, &o->without);
  AddSpaceOptions(command, &o->settings.space);
  AddMachine(command, &o->settings);
  AddSearch(command, &o->settings);
  command.add_option("--events", o->events, "File for the events of the search, one JSON object per line");
  command.add_flag("--quiet", o->quiet, "Do not show progress");
  AddJson(command, &o->json);
  command.footer(absl::StrCat(api::kTrustHelp, "\n", command.get_footer()));
  return [o, &command] {
    if (o->settings.target != "host" && command.count("--threads") == 0) o->settings.threads = 0;
    return Tune(*o);
  };
}

}  // namespace kiln::tools
