#include "tools/command.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "backends/version.h"
#include "build_info.h"
#include "search/cost/xgboost_model.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Subcommand {
  const char* name;
  const char* summary;
  const char* example;
  Action (*add)(CLI::App&);
};

constexpr Subcommand kSubcommands[] = {
    {"tune", "Search for a fast schedule of every task in a file",
     "kiln tune model.mlir --trials 200 --seed 7 --db kiln.db -o out/", AddTune},
    {"best", "List what was found, per workload and target", "kiln best --db kiln.db", AddBest},
    {"show", "Print a record as a program, a trace, MLIR, LLVM IR or assembly",
     "kiln show --db kiln.db 17 --stage asm", AddShow},
    {"replay", "Build a record again, check it against the original, and time it again",
     "kiln replay --db kiln.db 17", AddReplay},
    {"export", "Write a record as a header, an object, a shared library, MLIR and its trace",
     "kiln export --db kiln.db 17 -o out/", AddExport},
    {"bench", "Time the best that was found for a file beside the program as it came and its peers",
     "kiln bench model.mlir --db kiln.db", AddBench},
    {"check", "Prove that a schedule computes what the original does", "kiln check model.mlir model.trace",
     AddCheck},
    {"train", "Train a cost model on a database, for searches of other programs to begin with",
     "kiln train --db kiln.db -o model.kiln", AddTrain},
    {"space", "List the tasks of a file and their sketches: traces, sites, size of the support",
     "kiln space examples/matmul.mlir", AddSpace},
    {"log", "Tell how runs went, round by round: acceptance, accuracy of the model, where the time went",
     "kiln log kiln.db", AddLog},
    {"doctor", "Tell what on this machine disturbs timings", "kiln doctor", AddDoctor},
};

std::string Version() {
  return absl::StrCat("kiln ", KILN_VERSION, "\nLLVM ", LlvmVersion(), "\nXGBoost ", XgboostVersion());
}

int Report(const absl::Status& status, bool json) {
  if (status.ok()) return kExitOk;
  const std::string message(status.message());
  if (IsTold(status)) return ExitCode(status);
  if (json && !absl::IsCancelled(status))
    Print(Json{{"error", message}, {"kind", absl::StatusCodeToString(status.code())}});
  std::fprintf(stderr, "kiln: %s\n", message.c_str());
  return ExitCode(status);
}

}  // namespace

int RunKiln(int argc, const char* const* argv) {
  if (argc > 0) SetProgramName(argv[0]);
  CLI::App app("Kiln searches for fast schedules of tensor programs.", "kiln");
  app.set_version_flag("--version", Version(), "Print the versions of Kiln, LLVM and XGBoost");
  app.set_help_flag("-h,--help", "Print this help");
  app.set_help_all_flag("--help-all", "Print the help of all commands");
  app.require_subcommand(1);
  app.footer(
      "Example: kiln tune examples/matmul.mlir\n"
      "Exit codes: 0 ok, 1 failed, 2 usage, 3 interrupted with partial results, 4 undecided (check)");

  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Subcommand& subcommand : kSubcommands) {
    CLI::App* command = app.add_subcommand(subcommand.name, subcommand.summary);
    command->footer(absl::StrCat("Example: ", subcommand.example));
    actions.emplace_back(command, subcommand.add(*command));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  for (const auto& [command, action] : actions) {
    if (!command->parsed()) continue;
    const CLI::Option* json = command->get_option_no_throw("--json");
    return Report(action(), json != nullptr && json->count() > 0);
  }
  return kExitUsage;
}

}  // namespace kiln::tools
