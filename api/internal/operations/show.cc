// Session::Show: the program of a record, or of a task of a file, and what is compiled from it.
#include <fstream>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/internal/operations/operations.h"
#include "api/internal/store/flags_text.h"
#include "api/internal/store/record.h"
#include "api/internal/workers.h"
#include "backends/cpu/targets.h"
#include "lang/base/unknown_name.h"
#include "lang/text/serialize.h"
#include "lang/text/text.h"
#include "trace/replay.h"
#include "trace/text.h"

namespace kiln::api {
namespace {

constexpr int kBlocksAnSm = 4, kThreads = 256;  // for a task without a trace, on a GPU

// A scheduled program to show, its trace, and the options with which it is compiled.
struct Subject {
  Program scheduled;
  std::string trace;
  Target target;
  bool contract = true;
  Policies policies = {};
};

struct StageRow {
  absl::string_view name;
  std::optional<BuildOutput> of_cpu, of_gpu;
};
constexpr StageRow kStages[] = {
    {"plan", BuildOutput::kPlan, BuildOutput::kPlan},   {"mlir", BuildOutput::kMlir, BuildOutput::kMlir},
    {"nvvm", std::nullopt, BuildOutput::kNvvm},         {"llvm", BuildOutput::kLlvm, BuildOutput::kLlvm},
    {"asm", BuildOutput::kAssembly, BuildOutput::kPtx}, {"ptx", std::nullopt, BuildOutput::kPtx},
    {"sass", std::nullopt, BuildOutput::kSass}};

absl::StatusOr<std::string> Compiled(const SessionOptions& options, const ShowSettings& settings,
                                     const Subject& subject, BuildOutput output) {
  auto builder = StartBuilder(options.database, options.workers);
  if (!builder.ok()) return builder.status();
  BuildRequest request;
  request.program = Serialize(subject.scheduled);
  request.outputs = {output};
  request.contract = subject.contract;
  request.policies = subject.policies;
  request.print_after_all = settings.passes;
  MakeFor(subject.target, IsHost(subject.target), &request);
  request.limits.seconds = 120;
  BuildResult built = (*builder)->RunAll({request})[0];
  if (!built.ok()) return absl::FailedPreconditionError(built.error);
  return settings.passes ? built.passes : built.outputs[0];
}

absl::StatusOr<std::string> TextOf(const SessionOptions& options, const ShowSettings& settings,
                                   const Subject& subject) {
  if (settings.passes) return Compiled(options, settings, subject, BuildOutput::kObject);
  if (settings.stage == "program") return ToString(subject.scheduled);
  if (settings.stage == "trace") return subject.trace;
  std::vector<absl::string_view> known = {"program", "trace"};
  for (const StageRow& row : kStages) {
    known.push_back(row.name);
    if (row.name != settings.stage) continue;
    const auto output = subject.target.gpu != nullptr ? row.of_gpu : row.of_cpu;
    if (output) return Compiled(options, settings, subject, *output);
    return Mistake(absl::InvalidArgumentError(
        absl::StrCat("the stage ", settings.stage, " is of GPUs; --target names one")));
  }
  return Mistake(absl::InvalidArgumentError(UnknownName("stage", settings.stage, known)));
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": there is no such file"));
  return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Reads the trace in the file. If `file` is empty, returns a trace without steps or, for a GPU, with one step that
// binds the outer loops to blocks and threads.
absl::StatusOr<Trace> TraceFor(const Target& target, const std::string& file) {
  std::string text = "kiln.trace v2\n";
  if (!file.empty()) {
    auto read = ReadText(file);
    if (!read.ok()) return read.status();
    text = *std::move(read);
  } else if (target.gpu != nullptr) {
    absl::StrAppend(&text, "bind-rest ", kBlocksAnSm * target.gpu->sms, " ", kThreads, "\n");
  }
  absl::StatusOr<Trace> trace = ParseTrace(text);
  if (trace.ok()) return trace;
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", trace.status().message()));
}

}  // namespace

absl::StatusOr<Shown> ShowRecord(const SessionOptions& options, RowId id, const ShowSettings& settings) {
  const absl::StatusOr<Rebuilt> record = Rebuild(options.database, id);
  if (!record.ok()) return record.status();
  const absl::StatusOr<Target> target = TargetOfRecord(settings.target, record->target);
  if (!target.ok()) return target.status();
  const RecordRow& row = record->entry.record;
  absl::StatusOr<std::string> text = TextOf(
      options, settings, {record->scheduled, row.trace, *target, row.flags.contract, row.flags.policies});
  if (!text.ok()) return text.status();
  return Shown{.id = id,
               .workload = record->entry.workload.name,
               .flags = row.flags.Print(),
               .how = FlagsText(row),
               .assumptions = record->assumptions,
               .stage = settings.passes ? "passes" : settings.stage,
               .text = *std::move(text)};
}

absl::StatusOr<Shown> ShowTask(const SessionOptions& options, const Input& input, const std::string& task,
                               const std::string& trace_file, const ShowSettings& settings) {
  const absl::StatusOr<const Task*> found = TaskNamed(input, task);
  if (!found.ok()) return found.status();
  absl::StatusOr<Target> target = NamedTarget(settings.target.empty() ? "host" : settings.target);
  if (!target.ok()) return Mistake(target.status());
  target->policies = input.policies;
  const absl::StatusOr<Trace> trace = TraceFor(*target, trace_file);
  if (!trace.ok()) return trace.status();
  const absl::StatusOr<Replayed> replayed = Replay(*trace, (*found)->program, *target, {.snapshots = false});
  if (!replayed.ok())
    return absl::Status(replayed.status().code(), absl::StrCat(trace_file, trace_file.empty() ? "" : ": ",
                                                               replayed.status().message()));
  absl::StatusOr<std::string> text =
      TextOf(options, settings, {replayed->program(), Print(*trace), *target, true, input.policies});
  if (!text.ok()) return text.status();
  return Shown{.workload = (*found)->program.name,
               .assumptions = AssumptionsOf(trace->steps),
               .stage = settings.passes ? "passes" : settings.stage,
               .text = *std::move(text)};
}

}  // namespace kiln::api
