#include "api/json.h"
#include "api/session.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Options {
  std::string database = "kiln.db", action, file;
  bool json = false;
};

absl::Status Export(api::Session& session, const Options& options) {
  const auto report = session.ExportRecords(options.file);
  if (!report.ok()) return report.status();
  if (options.json) {
    Print(api::ToJson(*report));
  } else {
    std::printf("%d records written to %s\n", report->records, options.file.c_str());
  }
  return absl::OkStatus();
}

absl::Status Import(api::Session& session, const Options& options) {
  const auto report = session.ImportRecords(options.file);
  if (!report.ok()) return report.status();
  if (options.json) {
    Print(api::ToJson(*report));
  } else {
    std::printf("%d records added, %d were there\n", report->added, report->present);
  }
  return absl::OkStatus();
}

absl::Status Records(const Options& options) {
  api::Session session({.database = options.database});
  return options.action == "export" ? Export(session, options) : Import(session, options);
}

}  // namespace

Action AddRecords(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("ACTION", options->action, "import: adds records of FILE; export: writes all to FILE")
      ->required()
      ->check(CLI::IsMember({"import", "export"}));
  command
      .add_option("FILE", options->file,
                  "Results of a bundle (kiln-gpu-runner --bundle) or records as JSON lines")
      ->required();
  AddDatabase(command, &options->database);
  AddJson(command, &options->json);
  return [options] { return Records(*options); };
}

}  // namespace kiln::tools
