#include "api/json.h"
#include "api/session.h"
#include "tools/interrupt.h"
#include "tools/subcommands.h"
#include "tools/text/build_text.h"

namespace kiln::tools {
namespace {

struct Options {
  api::Source source;
  std::string database = "kiln.db", without;
  api::BuildSettings settings;
  bool json = false;
};

absl::Status Build(const Options& options) {
  api::Session session({.database = options.database, .without = options.without, .log = Note});
  if (const absl::Status loaded = session.Load(options.source); !loaded.ok()) return loaded;
  const Stoppable stoppable([&] { session.Interrupt(); });
  const auto report = session.Build(options.settings);
  if (!report.ok()) return report.status();
  if (options.json) {
    Print(api::ToJson(*report));
  } else {
    PrintText(*report);
  }
  return absl::OkStatus();
}

}  // namespace

Action AddBuild(CLI::App& command) {
  auto options = std::make_shared<Options>();
  options->source.whole = true;
  AddFile(command, &options->source);
  AddDatabase(command, &options->database);
  AddWithout(command, &options->without);
  command
      .add_option("-o,--output", options->settings.folder,
                  "Folder for the files; created if it does not exist")
      ->capture_default_str();
  command.add_option("--name", options->settings.name,
                     "Name of the function and the files; by default the file's");
  command.add_option(
      "--weights", options->settings.weights,
      "The model's constants, .safetensors or .npz; they are prepared and written as NAME.weights");
  command.add_flag(
      "--check", options->settings.check,
      "Runs the library on drawn data before it is written: its arrays keep to themselves, and its "
      "results are those of the model in f64 but for rounding");
  AddTarget(command, &options->settings.target, "The machine to make code for")->capture_default_str();
  AddJson(command, &options->json);
  return [options] { return Build(*options); };
}

}  // namespace kiln::tools
