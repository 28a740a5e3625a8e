#include "api/json.h"
#include "api/session.h"
#include "api/text.h"
#include "tools/interrupt.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Options {
  int64_t record = 0;
  std::string database = "kiln.db";
  api::ExportSettings settings;
  bool json = false;
};

absl::Status Export(const Options& options) {
  api::Session session({.database = options.database, .workers = "", .log = Note});
  const Stoppable stoppable([&] { session.Interrupt(); });
  const auto exported = session.Export(options.record, options.settings);
  if (!exported.ok()) return exported.status();
  if (options.json) {
    Print(api::ToJson(*exported));
  } else {
    for (const std::string& file : exported->files) std::printf("%s\n", file.c_str());
  }
  return absl::OkStatus();
}

}  // namespace

Action AddExport(CLI::App& command) {
  auto options = std::make_shared<Options>();
  AddRecord(command, &options->record, &options->database);
  command
      .add_option("-o,--output", options->settings.folder,
                  "Folder for the files; created if it does not exist")
      ->capture_default_str();
  command.add_option("--name", options->settings.name,
                     "Name of the function and the files; by default the workload's");
  AddTarget(command, &options->settings.target,
            "The machine to make code for; by default the one it was tuned on");
  AddJson(command, &options->json);
  command.footer(std::string(api::kTrustHelp) + "\n" + command.get_footer());
  return [options] { return Export(*options); };
}

}  // namespace kiln::tools
