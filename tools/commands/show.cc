#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/json.h"
#include "api/session.h"
#include "tools/subcommands.h"
#include "tools/text/model_text.h"

namespace kiln::tools {
namespace {

struct Options {
  std::string what;  // a record, the trace of a model, or a file with tasks
  std::string database = "kiln.db", function, inputs, without, task, trace;
  api::ShowSettings settings;
  bool json = false;
};

absl::Status ShowModel(const Options& options) {
  const auto model = api::Session().ShowModel(options.what);
  if (!model.ok()) return model.status();
  if (options.json) {
    Print(api::ToJson(*model));
  } else {
    PrintText(*model, options.settings.stage);
  }
  return absl::OkStatus();
}

absl::StatusOr<api::Shown> ShowFile(const Options& options) {
  if (options.what != "-" && !std::filesystem::exists(options.what))
    return api::Mistake(absl::InvalidArgumentError(
        absl::StrCat("\"", options.what, "\" is no number of a record, and there is no such file")));
  api::Session session({.database = options.database, .without = options.without});
  const absl::Status loaded =
      session.Load({.path = options.what, .function = options.function, .inputs = options.inputs});
  if (!loaded.ok()) return loaded;
  return session.ShowTask(options.task, options.trace, options.settings);
}

absl::Status Show(const Options& options) {
  if (options.settings.stage == "calls" || options.settings.stage == "memory") return ShowModel(options);
  if (absl::EndsWith(options.what, ".trace"))
    return api::Mistake(absl::InvalidArgumentError(absl::StrCat(
        options.what, ": no number of a record; of a model's trace there are --stage calls and memory")));
  int64_t record = 0;
  const auto shown = absl::SimpleAtoi(options.what, &record)
                         ? api::Session({.database = options.database}).Show(record, options.settings)
                         : ShowFile(options);
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
  command
      .add_option("WHAT", options->what,
                  "A record, as `kiln tune` and `kiln best` name them; a file with tasks; or NAME.trace of "
                  "`kiln build`")
      ->required();
  AddDatabase(command, &options->database);
  command.add_option("--function", options->function,
                     "Function of the file to use; by default its only public one, or main");
  AddInputs(command, &options->inputs);
  command.add_option("--task", options->task, "The task of the file, if it has several");
  command.add_option("--trace", options->trace,
                     "File with a trace for the task; by default it has no schedule, or one that binds its "
                     "outer loops for a GPU");
  AddWithout(command, &options->without);
  command
      .add_option("--stage", options->settings.stage,
                  "program, trace, plan, mlir, llvm or asm of a record or task, of a GPU also nvvm, ptx or "
                  "sass; calls or memory of a model")
      ->check(CLI::IsMember(
          {"program", "trace", "plan", "mlir", "llvm", "asm", "nvvm", "ptx", "sass", "calls", "memory"}))
      ->capture_default_str();
  command.add_flag("--print-after-all", options->settings.passes,
                   "Print what every pass of the lowering makes");
  AddTarget(command, &options->settings.target,
            "The machine to make code for; by default the one it was measured on, or this one");
  AddJson(command, &options->json);
  return [options] { return Show(*options); };
}

}  // namespace kiln::tools
