#include "tools/common.h"

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/machine.h"
#include "api/text.h"

namespace kiln::tools {
namespace {

constexpr absl::string_view kUndecidedPayload = "kiln.undecided", kAlreadyPrintedPayload = "kiln.told",
                            kPartialPayload = "kiln.partial";

// The state of the one JSON document that the command prints: open, reserved for the error of an interrupt, or printed.
enum class Document { kOpen, kReserved, kPrinted };
std::mutex document_lock;
Document document = Document::kOpen;

void PrintIf(Document expected, const std::string& json) {
  const std::lock_guard lock(document_lock);
  if (document != expected) return;
  document = Document::kPrinted;
  std::printf("%s\n", json.c_str());
  std::fflush(stdout);
}

absl::Status With(absl::Status status, absl::string_view payload) {
  if (!status.ok()) status.SetPayload(payload, absl::Cord("1"));
  return status;
}

struct Command {
  std::string name = "kiln", typed;
};

Command& TheCommand() {
  static auto* command = new Command;
  return *command;
}

}  // namespace

const std::string& ProgramName() { return TheCommand().name; }
const std::string& TypedCommand() { return TheCommand().typed; }

void SetCommand(int argc, const char* const* argv) {
  Command& command = TheCommand();
  if (argc > 0) command.name = argv[0];
  command.typed = api::Quoted(command.name);
  bool reads_input = false;
  for (int i = 1; i < argc; ++i) {
    absl::StrAppend(&command.typed, " ", api::Quoted(argv[i]));
    reads_input |= absl::string_view(argv[i]) == "-";
  }
  if (reads_input) command.typed += " < FILE  # the same file";
}

absl::Status Undecided(absl::Status status) { return With(std::move(status), kUndecidedPayload); }
absl::Status Partial(absl::Status status) { return With(std::move(status), kPartialPayload); }
absl::Status AlreadyPrinted(absl::Status status) { return With(std::move(status), kAlreadyPrintedPayload); }
bool IsAlreadyPrinted(const absl::Status& status) {
  return status.GetPayload(kAlreadyPrintedPayload).has_value();
}

int ExitCode(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  if (api::IsMistake(status)) return kExitUsage;
  if (status.GetPayload(kUndecidedPayload).has_value()) return kExitUndecided;
  if (status.GetPayload(kPartialPayload).has_value()) return kExitInterrupted;
  return absl::IsCancelled(status) ? kExitInterrupted : kExitFailed;
}

CLI::Validator NumberFrom(double least, double most) {
  const std::string range =
      most > 1e18 ? absl::StrCat("of at least ", least) : absl::StrCat("from ", least, " to ", most);
  return CLI::Validator(
      [=](std::string& text) {
        double number = 0;
        const bool in_range = absl::SimpleAtod(text, &number) && number >= least && number <= most;
        return in_range ? std::string()
                        : absl::StrCat("\"", text, "\" is given; it must be a number ", range);
      },
      "");
}

void AddJson(CLI::App& command, bool* json) {
  command.add_flag("--json", *json, "Print one JSON document instead of text");
}

void Print(const std::string& json) { PrintIf(Document::kOpen, json); }

void PrintReserved(const std::string& json) { PrintIf(Document::kReserved, json); }

bool ReserveJson() {
  const std::lock_guard lock(document_lock);
  if (document == Document::kOpen) document = Document::kReserved;
  return document == Document::kReserved;
}

std::string Table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      absl::StrAppend(&line, row[c], std::string(widths[c] - row[c].size() + 2, ' '));
    }
    line.resize(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

void AddFile(CLI::App& command, api::Source* source) {
  command.add_option("FILE", source->path, "Linalg on tensors, as MLIR; - is standard input")->required();
  command.add_option("--function", source->function,
                     "Function of the file to use; by default its only public one, or main");
  AddInputs(command, &source->inputs);
}

void AddInputs(CLI::App& command, std::string* inputs) {
  command.add_option(
      "--inputs", *inputs,
      "Arguments that are inputs, if all others are constants: 2, the first two, or names, x,y");
}

void AddRecord(CLI::App& command, int64_t* id, std::string* database) {
  command.add_option("ID", *id, "A record, as `kiln tune` and `kiln best` name them")->required();
  AddDatabase(command, database);
}

CLI::Option* AddTarget(CLI::App& command, std::string* name, const std::string& help) {
  return command.add_option("--target", *name, help)->check(CLI::IsMember(api::TargetNames()));
}

void AddFeatures(CLI::App& command, std::string* features) {
  command
      .add_option("--features", *features,
                  "What the model sees: ansor (gpu for a GPU), context-relation or configuration")
      ->check(CLI::IsMember(api::FeatureNames()))
      ->capture_default_str();
}

void AddWithout(CLI::App& command, std::string* names) {
  command.add_option(
      "--without", *names,
      "Special policies to switch off, such as prefetch-streams,short-loops; docs/reference/policies.md");
}

void AddSpaceOptions(CLI::App& command, api::SpaceSettings* space) {
  command.add_option("--space", space->space,
                     "The space, such as \"each-block(auto-inline) | cpu\"; the target's by default");
  command
      .add_option("--plugin", space->plugins,
                  "A module of yours: FILE.cc, compiled on first use, or FILE.so; may be given several times")
      ->take_all()
      ->allow_extra_args(false);
}

void Note(absl::string_view line) {
  std::fprintf(stderr, "kiln: %.*s\n", static_cast<int>(line.size()), line.data());
}

void NoteCores(int threads, int cores) {
  if (threads <= cores) return;
  std::fprintf(stderr, "kiln: --threads %d: only %s may be used here, so programs run on %d\n", threads,
               api::CoresText(cores).c_str(), cores);
}

void AddDatabase(CLI::App& command, std::string* path) {
  command.add_option("--db", *path, "The database, one SQLite file; built code is kept in FILE.objects")
      ->capture_default_str();
}

}  // namespace kiln::tools
