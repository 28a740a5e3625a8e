#include "api/internal/model/whole.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/internal/interval.h"
#include "api/internal/json.h"
#include "api/internal/tasks.h"
#include "backends/codegen/symbol_bytes.h"
#include "backends/cpu/cores.h"
#include "backends/vendor/paired_timing.h"
#include "lang/base/phase.h"
#include "lang/model/plan_calls.h"
#include "validator/model/check_model_plan.h"

namespace kiln::api {
namespace {

std::string Print(const LibraryText& library) {
  return Json{{"name", library.name},
              {"weights_bytes", library.weights_bytes},
              {"arena_bytes", library.arena_bytes},
              {"alignment", kModelAlignment},
              {"parameters", JsonOf(library.parameters)}}
      .dump();
}

std::string PrintCalls(const LibraryText& library) {
  Json calls = Json::array();
  for (const CallText& call : library.calls) calls.push_back({call.number, call.task, call.schedule});
  return calls.dump();
}

int64_t ElementsOf(const Parameter& p) {
  int64_t elements = 1;
  for (const int64_t extent : p.shape) elements *= extent;
  return elements;
}

KernelParam::Role RoleOf(const Parameter& p) {
  if (p.role == "output") return KernelParam::kOutput;
  if (p.role == "constant") return KernelParam::kConstant;
  return p.role == "scalar" ? KernelParam::kScalar : KernelParam::kInput;
}

}  // namespace

std::vector<ForeignTask> ForeignTasksOf(const Input& input) {
  std::vector<ForeignTask> foreign;
  for (const Boundary& b : input.file_content.boundaries)
    foreign.push_back({.what = absl::StrCat(b.op, " (", b.location, ")"), .module = b.code});
  return foreign;
}

int PiecesHere() { return std::clamp(static_cast<int>(UsableCores().size()), 2, 64); }

absl::StatusOr<WholeModel> CompileWhole(const Input& input, const ModelSchedules& schedules,
                                        const std::string& name, BuilderPool& builders,
                                        const ModelBuildOptions& options) {
  const Phase phase("build");
  auto code = CompileTasks(schedules.scheduled, name, builders, options, ForeignTasksOf(input));
  if (!code.ok()) return code.status();
  auto plan = PlanCalls(input.program, schedules.tasks, code->needs, input.foreign);
  if (!plan.ok()) return plan.status();
  const auto checked = CheckModelPlan(input.program, *plan, input.foreign);
  if (!checked.ok()) return checked.status();
  LibraryText described{.name = name,
                        .weights_bytes = plan->weights_bytes,
                        .arena_bytes = plan->arena_bytes,
                        .parameters = ParametersOf(input)};
  for (size_t c = 0; c < plan->calls.size(); ++c) {
    const BuiltTask& task = schedules.told[static_cast<size_t>(plan->calls[c].task)];
    if (!plan->calls[c].prepares)
      described.calls.push_back({static_cast<int>(c), task.name, ScheduleText(task)});
  }
  auto library = LinkModel(input.program, *plan, *code, name, builders, options,
                           {.metadata = Print(described), .calls = PrintCalls(described)});
  if (!library.ok()) return library.status();
  return WholeModel{*std::move(plan), checked->bytes_alive, *std::move(code), *std::move(library),
                    std::move(described)};
}

absl::StatusOr<LibraryText> DescriptionOf(const std::string& path, const std::string& shared_object) {
  const auto text = BytesOfSymbol(shared_object, "_metadata");
  if (!text.ok())
    return Mistake(absl::InvalidArgumentError(
        absl::StrCat(path, ": not a library of `kiln build`: ", text.status().message())));
  const Json json = Json::parse(text->c_str(), nullptr, false);
  LibraryText library;
  try {
    library.name = json.at("name");
    library.weights_bytes = json.at("weights_bytes");
    library.arena_bytes = json.at("arena_bytes");
    for (const Json& p : json.at("parameters"))
      library.parameters.push_back(
          {p.at("name"), p.value("argument", ""), p.at("dtype"), p.at("shape"), p.at("role")});
    if (const auto calls = BytesOfSymbol(shared_object, "_profile_calls"); calls.ok()) {
      for (const Json& call : Json::parse(calls->c_str()))
        library.calls.push_back({call.at(0), call.at(1), call.at(2)});
    }
  } catch (const Json::exception& e) {
    return absl::DataLossError(absl::StrCat(path, ": what it says of itself is malformed: ", e.what()));
  }
  return library;
}

KernelObject KernelOfModel(const LibraryText& described, std::string shared_object) {
  KernelObject kernel{.shared_object = std::move(shared_object),
                      .symbol = absl::StrCat(described.name, "_by_table"),
                      .takes_table = true};
  const bool prepares = described.weights_bytes > 0;
  if (prepares) kernel.prepare_symbol = absl::StrCat(described.name, "_prepare_by_table");
  if (!absl::IsNotFound(BytesOfSymbol(kernel.shared_object, "_set_threads").status()))
    kernel.threads_symbol = absl::StrCat(described.name, "_set_threads");
  for (const Parameter& p : described.parameters) {
    kernel.params.push_back({.dtype = p.dtype, .elements = ElementsOf(p), .role = RoleOf(p)});
    if (p.role == "output") kernel.params.back().tolerance = {.relative = INFINITY, .absolute = INFINITY};
  }
  kernel.params.push_back({"u8", std::max<int64_t>(described.weights_bytes, 1),
                           prepares ? KernelParam::kPrepared : KernelParam::kWorkspace});
  kernel.params.push_back({"u8", std::max<int64_t>(described.arena_bytes, 1), KernelParam::kWorkspace});
  return kernel;
}

std::string ScheduleText(const BuiltTask& task) {
  return task.record > 0 ? absl::StrCat(task.schedule, " ", task.record) : task.schedule;
}

ProfiledRuns ProfileOf(const LibraryText& described, int runs) {
  return {.symbol = absl::StrCat(described.name, "_profile_by_table"),
          .calls = static_cast<int>(described.calls.size()),
          .runs = runs};
}

std::vector<CallTimes> CallTimesOf(const LibraryText& described,
                                   const std::vector<std::vector<double>>& call_seconds) {
  std::vector<CallTimes> times;
  if (call_seconds.empty()) return times;
  for (size_t c = 0; c < described.calls.size(); ++c) {
    std::vector<double> samples;
    for (const std::vector<double>& run : call_seconds) samples.push_back(run[c]);
    const CallText& call = described.calls[c];
    times.push_back({call.number, call.task, call.schedule, IntervalOf(MedianOf(samples))});
  }
  return times;
}

int64_t RunBytesOf(const LibraryText& described) {
  return 2 * described.weights_bytes + described.arena_bytes + (int64_t{8} << 30);
}

}  // namespace kiln::api
