#include "api/json.h"
#include "api/session.h"
#include "tools/subcommands.h"
#include "tools/text/space_text.h"

namespace kiln::tools {
namespace {

struct Options {
  api::Source source;
  api::SketchSettings settings;
  std::string without;
  bool json = false, summary = false;
};

absl::Status Space(const Options& options) {
  api::Session session({.without = options.without, .log = Note});
  if (const absl::Status loaded = session.Load(options.source); !loaded.ok()) return loaded;
  const auto report = session.Sketches(options.settings);
  if (!report.ok()) return report.status();
  NoteCores(options.settings.threads, report->cores);
  if (!options.json) {
    PrintText(*report, options.summary);
    return report->status;
  }
  Print(api::ToJson(*report));
  if (!report->status.ok()) std::fprintf(stderr, "kiln: %s\n", std::string(report->status.message()).c_str());
  return AlreadyPrinted(report->status);
}

}  // namespace

Action AddSpace(CLI::App& command) {
  auto options = std::make_shared<Options>();
  AddFile(command, &options->source);
  api::SketchSettings& settings = options->settings;
  command.add_option("--task", settings.task, "Only this task");
  AddSpaceOptions(command, &settings.space);
  AddWithout(command, &options->without);
  AddTarget(command, &settings.target, "The machine to make sketches for")->capture_default_str();
  command.add_option("--threads", settings.threads, "Cores of the target; 0: all")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_option("--limit", settings.limit, "Largest number of sequences of structural choices to try")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command.add_flag("--summary", options->summary,
                   "Print the table of tasks, what was dropped and what modules declined, and no sketches");
  AddJson(command, &options->json);
  return [options] { return Space(*options); };
}

}  // namespace kiln::tools
