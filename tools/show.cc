#include "absl/strings/match.h"
#include "lang/text/serialize.h"
#include "lang/text/text.h"
#include "tools/flags_text.h"
#include "tools/record.h"
#include "tools/subcommands.h"
#include "tools/target_option.h"
#include "tools/workers.h"

namespace kiln::tools {
namespace {

struct Options {
  RecordOption record;
  std::string stage = "program", target;
  bool print_after_all = false;
  bool json = false;
};

absl::StatusOr<std::string> Compiled(const Options& options, const Rebuilt& record, BuildOutput output) {
  const absl::StatusOr<Target> target = TargetOfRecord(options.target, record.target);
  if (!target.ok()) return target.status();
  auto builder = StartBuilder(options.record.database);
  if (!builder.ok()) return builder.status();
  BuildRequest request;
  request.program = Serialize(record.scheduled);
  request.outputs = {output};
  request.contract = record.entry.record.flags.contract;
  request.print_after_all = options.print_after_all;
  MakeFor(*target, &request);
  request.limits.seconds = 120;
  BuildResult built = (*builder)->RunAll({request})[0];
  if (!built.ok()) return absl::FailedPreconditionError(built.error);
  return options.print_after_all ? built.passes : built.outputs[0];
}

absl::StatusOr<std::string> TextOf(const Options& options, const Rebuilt& record) {
  if (options.print_after_all) return Compiled(options, record, BuildOutput::kObject);
  if (options.stage == "trace") return record.entry.record.trace;
  if (options.stage == "mlir") return Compiled(options, record, BuildOutput::kMlir);
  if (options.stage == "llvm") return Compiled(options, record, BuildOutput::kLlvm);
  if (options.stage == "asm") return Compiled(options, record, BuildOutput::kAssembly);
  return ToString(record.scheduled);
}

absl::Status Show(const Options& options) {
  const absl::StatusOr<Rebuilt> record = Rebuild(options.record);
  if (!record.ok()) return record.status();
  const absl::StatusOr<std::string> text = TextOf(options, *record);
  if (!text.ok()) return text.status();
  if (options.json) {
    Print(Json{{"id", options.record.id},
               {"workload", record->entry.workload.name},
               {"flags", record->entry.record.flags.Print()},
               {"assumptions", record->assumptions},
               {"stage", options.print_after_all ? "passes" : options.stage},
               {"text", *text}});
  } else {
    if (record->entry.record.flags != RecordFlags())
      std::fprintf(stderr, "kiln: record %ld: %s\n", static_cast<long>(options.record.id),
                   FlagsText(record->entry.record).c_str());
    std::printf("%s%s", text->c_str(), absl::EndsWith(*text, "\n") ? "" : "\n");
  }
  return absl::OkStatus();
}

}  // namespace

Action AddShow(CLI::App& command) {
  auto options = std::make_shared<Options>();
  AddRecordOption(command, &options->record);
  command.add_option("--stage", options->stage, "program, trace, mlir, llvm or asm")
      ->check(CLI::IsMember({"program", "trace", "mlir", "llvm", "asm"}))
      ->capture_default_str();
  command.add_flag("--print-after-all", options->print_after_all,
                   "Print what every pass of the lowering makes");
  AddTarget(command, &options->target,
            "The machine that code is made for; the one it was measured on by default");
  AddJson(command, &options->json);
  return [options] { return Show(*options); };
}

}  // namespace kiln::tools
