#include "absl/strings/match.h"
#include "api/json.h"
#include "api/session.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Options {
  int64_t record = 0;
  std::string database = "kiln.db";
  api::ShowSettings settings;
  bool json = false;
};

absl::Status Show(const Options& options) {
  const auto shown = api::Session({.database = options.database}).Show(options.record, options.settings);
  if (!shown.ok()) return shown.status();
  if (options.json) {
    Print(api::ToJson(*shown));
    return absl::OkStatus();
  }
  if (!shown->flags.empty())
    std::fprintf(stderr, "kiln: record %ld: %s\n", static_cast<long>(shown->id), shown->how.c_str());
  std::printf("%s%s", shown->text.c_str(), absl::EndsWith(shown->text, "\n") ? "" : "\n");
  return absl::OkStatus();
}

}  // namespace

Action AddShow(CLI::App& command) {
  auto options = std::make_shared<Options>();
  AddRecord(command, &options->record, &options->database);
  command.add_option("--stage", options->settings.stage, "program, trace, plan, mlir, llvm or asm")
      ->check(CLI::IsMember({"program", "trace", "plan", "mlir", "llvm", "asm"}))
      ->capture_default_str();
  command.add_flag("--print-after-all", options->settings.passes,
                   "Print what every pass of the lowering makes");
  AddTarget(command, &options->settings.target,
            "The machine to make code for; by default the one it was measured on");
  AddJson(command, &options->json);
  return [options] { return Show(*options); };
}

}  // namespace kiln::tools
