#include "api/json.h"
#include "api/session.h"
#include "api/text.h"
#include "tools/interrupt.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Options {
  api::Source source;
  api::BundleSettings settings;
  std::string database = "kiln.db", without;
  bool json = false;
};

absl::Status Bundle(const Options& options) {
  api::Session session({.database = options.database, .without = options.without, .log = Note});
  if (const absl::Status loaded = session.Load(options.source); !loaded.ok()) return loaded;
  const auto report = session.Bundle(options.settings);
  if (!report.ok()) return report.status();
  if (options.json) {
    Print(api::ToJson(*report));
    return absl::OkStatus();
  }
  std::vector<std::vector<std::string>> rows{{"task", "programs", "drawn", "not compiled"}};
  for (const api::BundledTask& task : report->tasks)
    rows.push_back(
        {task.name, std::to_string(task.programs), std::to_string(task.drawn), std::to_string(task.refused)});
  std::printf(
      "%s\nwrote %s, %.1f MB; on a machine with the GPU:\n\n  kiln-gpu-runner --bundle %s > results.json\n"
      "\nand here:\n\n  kiln records import results.json --db %s\n",
      Table(rows).c_str(), report->folder.c_str(), static_cast<double>(report->bytes) * 1e-6,
      report->folder.c_str(), options.database.c_str());
  return absl::OkStatus();
}

}  // namespace

Action AddBundle(CLI::App& command) {
  auto options = std::make_shared<Options>();
  api::BundleSettings& settings = options->settings;
  AddFile(command, &options->source);
  AddTarget(command, &settings.target, "The GPU")->capture_default_str();
  command.add_option("--programs", settings.programs, "Programs of each task")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command.add_option("--task", settings.task, "Only this task");
  command.add_option("--seed", settings.seed, "Seed of the draws and of the inputs")->capture_default_str();
  command.add_option("--runs", settings.runs, "Samples of each program; 0: only check its outputs")
      ->check(CLI::Range(0, 10000))
      ->capture_default_str();
  command.add_option("-o,--output", settings.folder, "Folder for the bundle")->required();
  AddSpaceOptions(command, &settings.space);
  AddWithout(command, &options->without);
  AddDatabase(command, &options->database);
  AddJson(command, &options->json);
  return [options] { return Bundle(*options); };
}

}  // namespace kiln::tools
