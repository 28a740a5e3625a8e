#include <fstream>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "backends/prove/presburger.h"
#include "lang/base/phase.h"
#include "tools/input.h"
#include "tools/record.h"
#include "tools/subcommands.h"
#include "tools/target_option.h"
#include "tools/trust.h"
#include "trace/replay.h"
#include "trace/text.h"
#include "validator/proof/proof.h"

namespace kiln::tools {
namespace {

struct Options {
  std::string what, function, trace, database = "kiln.db", task, target = "host";
  double seconds = 10;
  bool json = false;
};

struct Pair {
  Program original, scheduled;
  std::string assumptions;
};

absl::StatusOr<Pair> OfRecord(const Options& options) {
  RecordOption record;
  record.database = options.database;
  if (!absl::SimpleAtoi(options.what, &record.id))
    return Usage(absl::InvalidArgumentError(absl::StrCat(
        "\"", options.what, "\" is no record; give a file with a trace, or the number of a record")));
  absl::StatusOr<Rebuilt> rebuilt = Rebuild(record);
  if (!rebuilt.ok()) return rebuilt.status();
  return Pair{std::move(rebuilt->reference), std::move(rebuilt->scheduled), std::move(rebuilt->assumptions)};
}

absl::StatusOr<Pair> OfFiles(const Options& options) {
  std::ifstream file(options.trace, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(options.trace, ": there is no such file"));
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const absl::StatusOr<Trace> trace = ParseTrace(text);
  if (!trace.ok())
    return absl::InvalidArgumentError(absl::StrCat(options.trace, ": ", trace.status().message()));
  absl::StatusOr<Input> input = LoadInput({options.what, options.function});
  if (!input.ok()) return input.status();
  const Task* found = nullptr;
  for (const Task& task : input->tasks) {
    if (!options.task.empty() && task.program.name != options.task) continue;
    if (found != nullptr)
      return Usage(absl::InvalidArgumentError(absl::StrCat(
          options.what, " has several tasks; --task NAME says which, and `kiln space` lists them")));
    found = &task;
  }
  if (found == nullptr)
    return Usage(
        absl::InvalidArgumentError(absl::StrCat(options.what, " has no task \"", options.task, "\"")));
  const absl::StatusOr<Target> target = NamedTarget(options.target);
  if (!target.ok()) return target.status();
  const absl::StatusOr<Replayed> replayed = Replay(*trace, found->program, *target, {.snapshots = false});
  if (!replayed.ok())
    return absl::Status(replayed.status().code(),
                        absl::StrCat(options.trace, ": ", replayed.status().message()));
  return Pair{replayed->state.Reference(found->program), replayed->program(), AssumptionsOf(trace->steps)};
}

absl::Status CheckPair(const Options& options) {
  const absl::StatusOr<Pair> pair = options.trace.empty() ? OfRecord(options) : OfFiles(options);
  if (!pair.ok()) return pair.status();
  const Phase phase("proof");
  proof::PresburgerProver prover;
  const Proof proof =
      Prove(pair->original, pair->scheduled, {.prover = &prover, .limit = absl::Seconds(options.seconds)});
  const std::string verdict(ToString(proof.verdict));
  if (options.json) {
    Print(Json{{"verdict", verdict},
               {"reason", proof.reason},
               {"assumptions", pair->assumptions},
               {"workload", pair->original.name}});
  } else {
    std::printf("%s: %s%s%s%s\n", pair->original.name.c_str(), verdict.c_str(),
                proof.reason.empty() ? "" : ": ", proof.reason.c_str(),
                AssumesText(pair->assumptions).c_str());
  }
  switch (proof.verdict) {
    case Proof::Verdict::kProven:
      return absl::OkStatus();
    case Proof::Verdict::kRefuted:
      return Told(TurnAwayRefuted(proof, "the scheduled program"));
    case Proof::Verdict::kTooHard:
      return Told(Undecided(absl::UnknownError("it is not known whether the programs are equal")));
  }
  return absl::OkStatus();
}

}  // namespace

Action AddCheck(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("INPUT", options->what, "Linalg on tensors, as MLIR text; or a record")->required();
  command.add_option("TRACE", options->trace, "The trace of the file's schedule; none for a record");
  AddDatabase(command, &options->database);
  command.add_option("--function", options->function,
                     "Which function of the file; its only public one, or main, by default");
  command.add_option("--task", options->task, "The task of the file that the trace is for");
  AddTarget(command, &options->target, "The machine that the file's trace was made for")
      ->capture_default_str();
  command.add_option("--time", options->seconds, "Seconds after which no new question is asked")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  AddJson(command, &options->json);
  return [options] { return CheckPair(*options); };
}

}  // namespace kiln::tools
