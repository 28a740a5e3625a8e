#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/json.h"
#include "api/session.h"
#include "tools/subcommands.h"

namespace kiln::tools {
namespace {

struct Options {
  std::string what, function, inputs, trace, database = "kiln.db", without, task, target = "host";
  double seconds = 10;
  bool json = false;
};

absl::StatusOr<api::CheckResult> CheckRecord(const Options& options, api::Session& session) {
  int64_t record = 0;
  if (!absl::SimpleAtoi(options.what, &record))
    return api::Mistake(absl::InvalidArgumentError(absl::StrCat(
        "\"", options.what, "\" is not a record; give a file with a trace, or the number of a record")));
  return session.Check(record, options.seconds);
}

absl::StatusOr<api::CheckResult> CheckFile(const Options& options, api::Session& session) {
  const absl::Status loaded =
      session.Load({.path = options.what, .function = options.function, .inputs = options.inputs});
  if (!loaded.ok()) return loaded;
  return session.Check(options.trace, options.task, options.target, options.seconds);
}

absl::Status Check(const Options& options) {
  api::Session session({.database = options.database, .without = options.without});
  const auto checked = options.trace.empty() ? CheckRecord(options, session) : CheckFile(options, session);
  if (!checked.ok()) return checked.status();
  if (options.json) {
    Print(api::ToJson(*checked));
  } else {
    std::printf("%s: %s%s%s%s%s\n", checked->workload.c_str(), checked->words.c_str(),
                checked->reason.empty() ? "" : ": ", checked->reason.c_str(),
                checked->assumptions.empty() ? "" : "; assumes: ", checked->assumptions.c_str());
  }
  const bool undecided = checked->verdict == api::CheckResult::Verdict::kUndecided;
  return AlreadyPrinted(undecided ? Undecided(checked->status) : checked->status);
}

}  // namespace

Action AddCheck(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("INPUT", options->what, "Linalg on tensors, as MLIR text; or a record")->required();
  command.add_option("TRACE", options->trace, "File with a trace for the file's program; not for a record");
  AddDatabase(command, &options->database);
  command.add_option("--function", options->function,
                     "Function of the file to use; by default its only public one, or main");
  AddInputs(command, &options->inputs);
  command.add_option("--task", options->task, "The task of the file that the trace is for");
  AddWithout(command, &options->without);
  AddTarget(command, &options->target, "The machine that the file's trace was made for")
      ->capture_default_str();
  command.add_option("--time", options->seconds, "Seconds after which the proof asks no new question")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  AddJson(command, &options->json);
  return [options] { return Check(*options); };
}

}  // namespace kiln::tools
