#include "backends/model/compile_model.h"

#include <algorithm>
#include <future>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "backends/codegen/archive.h"
#include "backends/codegen/link.h"
#include "backends/codegen/pool_files.h"
#include "lang/analysis/dataflow.h"
#include "lang/text/serialize.h"

namespace kiln {
namespace {

BuildRequest RequestFor(const ModelBuildOptions& options) {
  BuildRequest request{.outputs = {BuildOutput::kObject}, .lifts_allocations = true, .alignment = 1};
  request.triple = options.triple;
  request.cpu = options.cpu;
  request.features = options.features;
  request.limits = options.limits;
  request.pieces = options.pieces;
  return request;
}

absl::Status ErrorOf(const BuildResult& result, const std::string& what) {
  if (result.status == BuildStatus::kInterrupted)
    return absl::CancelledError(absl::StrCat("interrupted while ", what, " was built"));
  return absl::FailedPreconditionError(absl::StrCat("cannot build ", what, ": ", result.error));
}

// Returns 1 for each parameter that blocks of the prepare phase read and other blocks do not, 0 for the others.
std::vector<char> ReadByPrepare(const Program& program) {
  std::vector<char> in_main(program.buffers.size()), in_prepare(program.buffers.size());
  for (Id nest = program.nodes[kRoot].first; nest != kNone; nest = program.nodes[nest].next) {
    for (const Id block : BlocksOf(program, nest)) {
      for (const Id b : ReadBuffers(program, block))
        (program.nodes[nest].prepare ? in_prepare : in_main)[b] = 1;
    }
  }
  std::vector<char> only;
  for (const Id id : program.parameters) only.push_back(in_prepare[id] && !in_main[id] ? 1 : 0);
  return only;
}

bool HasStatus(const Program& program) {
  return absl::c_any_of(program.buffers, [](const Buffer& b) { return b.role == Role::kStatus; });
}

}  // namespace

absl::StatusOr<TaskObjects> CompileTasks(absl::Span<const ScheduledTask> tasks, const std::string& name,
                                         BuilderPool& builders, const ModelBuildOptions& options,
                                         absl::Span<const ForeignTask> foreign) {
  TaskObjects all;
  std::vector<std::shared_future<BuildResult>> results;
  for (size_t t = 0; t < tasks.size(); ++t) {
    BuildRequest request = RequestFor(options);
    request.program = Serialize(tasks[t].program);
    request.symbol = absl::StrCat(name, "_t", t);
    request.contract = tasks[t].contract;
    request.policies = tasks[t].policies;
    all.code.push_back({.symbol = request.symbol, .has_status = HasStatus(tasks[t].program)});
    results.push_back(builders.Submit(std::move(request)));
  }
  for (size_t f = 0; f < foreign.size(); ++f) {
    BuildRequest request = RequestFor(options);
    request.module = foreign[f].module;
    request.foreign = true;
    request.doubles = foreign[f].doubles;
    request.symbol = absl::StrCat(name, "_f", f);
    all.code.push_back({.symbol = request.symbol});
    results.push_back(builders.Submit(std::move(request)));
  }
  for (size_t t = 0; t < results.size(); ++t) {
    const BuildResult& result = results[t].get();
    const bool is_foreign = t >= tasks.size();
    if (!result.ok())
      return ErrorOf(
          result, is_foreign ? foreign[t - tasks.size()].what : absl::StrCat("task ", tasks[t].program.name));
    if (is_foreign) {
      all.code[t].has_status = result.has_status;
      all.needs.push_back({.workspaces = result.workspaces});
      all.objects.push_back(result.outputs[0]);
      continue;
    }
    all.code[t].has_prepare = result.has_prepare;
    all.code[t].takes_threads = result.takes_threads;
    TaskNeeds& needs = all.needs.emplace_back();
    for (const PreparedParam& prepared : result.prepared)
      needs.prepared.push_back(prepared.elements * SizeOf(ParseDType(prepared.dtype).value_or(DType::kI8)));
    needs.workspaces = result.workspaces;
    needs.read_by_prepare = ReadByPrepare(tasks[t].program);
    all.objects.push_back(result.outputs[0]);
  }
  return all;
}

absl::StatusOr<ModelLibrary> LinkModel(const Program& model, const ModelPlan& plan, const TaskObjects& tasks,
                                       const std::string& name, BuilderPool& builders,
                                       const ModelBuildOptions& options, const LibraryTexts& texts) {
  Driver driver = DriverOf(model, plan, tasks.code, name, texts.metadata, options.counts_calls);
  Driver profile;
  const auto submit = [&](const Driver& written) {
    BuildRequest request = RequestFor(options);
    request.module = written.module;
    request.entries = written.entries;
    return builders.Submit(std::move(request));
  };
  const bool shared = options.triple.empty(), profiles = shared && !texts.calls.empty();
  if (profiles) profile = ProfileDriverOf(model, plan, tasks.code, name, texts.calls);
  std::vector<std::shared_future<BuildResult>> submitted;
  submitted.push_back(submit(driver));
  if (profiles) submitted.push_back(submit(profile));
  std::vector<std::string> drivers;
  for (const std::shared_future<BuildResult>& future : submitted) {
    const BuildResult& built = future.get();
    if (!built.ok()) return ErrorOf(built, absl::StrCat("the driver of ", name));
    drivers.push_back(built.outputs[0]);
  }
  ModelLibrary library{.driver = std::move(driver.module), .entries = std::move(driver.entries)};
  library.takes_threads = absl::c_any_of(tasks.code, [](const TaskCode& task) { return task.takes_threads; });
  std::vector<std::pair<std::string, std::string>> members = {{absl::StrCat(name, ".o"), drivers[0]}};
  for (size_t t = 0; t < tasks.objects.size(); ++t)
    members.emplace_back(absl::StrCat(tasks.code[t].symbol, ".o"), tasks.objects[t]);
  auto archive = Archive(members);
  if (!archive.ok()) return archive.status();
  library.archive = *std::move(archive);
  if (!shared) return library;
  std::vector<std::string> objects = std::move(drivers), exports = library.entries;
  objects.insert(objects.end(), tasks.objects.begin(), tasks.objects.end());
  if (library.takes_threads) objects.push_back(PoolObject());
  exports.insert(exports.end(), profile.entries.begin(), profile.entries.end());
  if (!texts.metadata.empty()) exports.push_back(absl::StrCat(name, "_metadata"));
  if (profiles) exports.push_back(absl::StrCat(name, "_profile_calls"));
  auto linked = LinkShared(objects, {.exports = std::move(exports), .stays_loaded = library.takes_threads});
  if (!linked.ok()) return linked.status();
  library.shared_object = *std::move(linked);
  return library;
}

}  // namespace kiln
