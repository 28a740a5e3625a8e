// Session::Build: makes one library of a whole model.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/errors.h"
#include "api/internal/model/model_trace.h"
#include "api/internal/model/schedules.h"
#include "api/internal/model/whole.h"
#include "api/internal/operations/check_model.h"
#include "api/internal/operations/operations.h"
#include "api/internal/tasks.h"
#include "api/internal/workers.h"
#include "backends/codegen/pool_files.h"
#include "backends/cpu/targets.h"
#include "backends/export/export.h"
#include "backends/export/files.h"
#include "backends/export/model_header.h"
#include "backends/model/bind_weights.h"
#include "backends/model/prepare_weights.h"
#include "backends/model/weights_file.h"
#include "backends/model/weights_writer.h"

namespace kiln::api {
namespace {

constexpr absl::string_view kConstantsEnding = ".constants.safetensors";

class ModelBuild {
 public:
  ModelBuild(const SessionOptions& options, const Input& input, const BuildSettings& settings, Stop& stop)
      : options_(options), input_(input), settings_(settings), stop_(stop) {}

  absl::StatusOr<BuildReport> Run() {
    const auto start = std::chrono::steady_clock::now();
    const Stop::Work work(stop_);
    report_ = {.file = input_.shown, .target = settings_.target};
    report_.name = SafeName(settings_.name.empty() ? input_.program.name : settings_.name);
    report_.parameters = ParametersOf(input_);
    const auto target = NamedTarget(settings_.target);
    if (!target.ok()) return Mistake(target.status());
    if (auto status = CheckBuildsModels(*target); !status.ok()) return status;
    ModelBuildOptions building;
    MakeFor(*target, IsHost(*target), &building);
    if (IsHost(*target)) building.pieces = PiecesHere();
    if (auto status = FindConstants(); !status.ok()) return status;
    if (settings_.check && !IsHost(*target))
      return Mistake(
          absl::InvalidArgumentError("a library for another machine cannot run here; leave out --check"));
    auto schedules = ScheduleModel(options_, input_, *target, {}, stop_);
    if (!schedules.ok()) return schedules.status();
    schedules_ = *std::move(schedules);
    auto builders = StartBuilder(options_.database, options_.workers);
    if (!builders.ok()) return builders.status();
    const Stop::Work compiling(stop_, [&] { (*builders)->Interrupt(); });
    const auto whole = CompileWhole(input_, schedules_, report_.name, **builders, building);
    if (!whole.ok()) return whole.status();
    report_.tasks = schedules_.told;
    report_.calls = static_cast<int>(whole->plan.calls.size());
    report_.arena_bytes = whole->plan.arena_bytes;
    report_.alive_bytes = whole->alive_bytes;
    report_.weights_bytes = whole->plan.weights_bytes;
    if (settings_.check) {
      if (auto status = Check(*whole, **builders, building, *target); !status.ok()) return status;
    }
    if (stop_.asked()) return absl::CancelledError("interrupted before anything was written");
    if (auto status = Write(*whole); !status.ok()) return status;
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(report_);
  }

 private:
  absl::Status Write(const WholeModel& whole) {
    const ModelPlan& plan = whole.plan;
    const ModelLibrary& library = whole.library;
    const auto path = [&](absl::string_view ending) {
      return (std::filesystem::path(settings_.folder) / absl::StrCat(report_.name, ending)).string();
    };
    ModelHeader header{.name = report_.name,
                       .made_for = settings_.target == "host" ? Host().cpu : settings_.target,
                       .takes_threads = library.takes_threads,
                       .notes = AssumptionNotes()};
    if (has_all_constants_ && plan.weights_bytes > 0) {
      const auto offset = Prepare(plan, library, path(".weights"));
      if (!offset.ok()) return offset.status();
      header.weights_offset = *offset;
    }
    std::vector<NewFile> files = {{path(".h"), ModelHeaderText(input_.program, plan, header)},
                                  {path(".a"), library.archive},
                                  {path(".mlir"), library.driver},
                                  {path(".trace"), ModelTraceText(input_.program, whole, schedules_)}};
    if (!library.shared_object.empty()) files.push_back({path(".so"), library.shared_object});
    if (library.takes_threads)
      files.push_back({(std::filesystem::path(settings_.folder) / "kiln_pool.c").string(), PoolSource()});
    if (const absl::Status written = WriteFiles(settings_.folder, files); !written.ok()) return written;
    for (const NewFile& file : files) report_.files.push_back(file.path);
    if (header.weights_offset > 0) report_.files.push_back(path(".weights"));
    if (!WritesConstants()) return absl::OkStatus();
    report_.files.push_back(path(kConstantsEnding));
    return WriteConstants(report_.files.back());
  }

  absl::Status Check(const WholeModel& whole, BuilderPool& builders, const ModelBuildOptions& building,
                     const Target& target) {
    ModelToCheck check{.input = input_,
                       .plan = whole.plan,
                       .code = whole.code,
                       .library = whole.library,
                       .name = report_.name};
    for (const BuiltTask& task : report_.tasks) check.tasks.push_back(task.name);
    check.constants = constants_;
    auto accuracy = CheckModel(check, target, builders, building, stop_);
    if (!accuracy.ok()) return accuracy.status();
    report_.accuracy = *std::move(accuracy);
    return absl::OkStatus();
  }

  // Prepares the weights from constants_ and writes them to the file. Returns their offset in it.
  absl::StatusOr<int64_t> Prepare(const ModelPlan& plan, const ModelLibrary& library,
                                  const std::string& path) {
    std::error_code error;  // an error shows when the file is written
    std::filesystem::create_directories(settings_.folder, error);
    return PrepareWeights(library.shared_object, report_.name, constants_, plan.weights_bytes, path);
  }

  // Fills constants_ with the bytes of each constant, from the model's file or the file of weights. Sets
  // has_all_constants_: whether the weights are prepared here.
  absl::Status FindConstants() {
    const Program& p = input_.program;
    std::vector<const WeightTensor*> given;
    if (auto status = OpenWeights(&given); !status.ok()) return status;
    size_t next = 0;
    for (const Id id : p.parameters) {
      if (p.buffers[id].role != Role::kConstant) continue;
      const auto embedded = input_.embedded.find(std::string(p.Text(p.buffers[id].name)));
      const bool is_given = embedded == input_.embedded.end() && next < given.size();
      constants_.push_back(embedded != input_.embedded.end() ? embedded->second
                           : is_given                        ? given[next++]->bytes
                                                             : absl::string_view());
    }
    const bool embedded_alone = !constants_.empty() && input_.embedded.size() == constants_.size();
    has_all_constants_ = !settings_.weights.empty() || (embedded_alone && settings_.target == "host");
    return absl::OkStatus();
  }

  absl::Status OpenWeights(std::vector<const WeightTensor*>* given) {
    if (settings_.weights.empty()) return absl::OkStatus();
    if (settings_.target != "host")
      return Mistake(absl::InvalidArgumentError(
          "weights are prepared for this machine only; leave out --weights, and call NAME_prepare there"));
    auto file = WeightsFile::Open(settings_.weights);
    if (!file.ok()) return Mistake(file.status());
    weights_.emplace(*std::move(file));
    auto bound = BindWeights(input_.program, input_.file_content.arguments, *weights_, input_.embedded);
    if (!bound.ok()) return Mistake(bound.status());
    *given = *std::move(bound);
    return absl::OkStatus();
  }

  // Returns true if the constants in the model's file are written to a file of their own: the weights are not prepared
  // here, so the caller needs the constants to prepare them.
  bool WritesConstants() const { return !input_.embedded.empty() && !has_all_constants_; }

  absl::Status WriteConstants(const std::string& path) const {
    const Program& p = input_.program;
    std::vector<WeightTensor> tensors;
    for (const Id id : p.parameters) {
      const Buffer& buffer = p.buffers[id];
      const auto embedded = input_.embedded.find(std::string(p.Text(buffer.name)));
      if (embedded == input_.embedded.end()) continue;
      WeightTensor& tensor = tensors.emplace_back();
      tensor = {.name = embedded->first, .dtype = buffer.dtype, .bytes = embedded->second};
      for (const Extent extent : p.Dims(buffer.shape)) tensor.shape.push_back(extent.Known());
    }
    auto writer = WeightsWriter::Create(path, tensors);
    if (!writer.ok()) return writer.status();
    for (const WeightTensor& tensor : tensors) {
      if (auto status = writer->Append(tensor.bytes); !status.ok()) return status;
    }
    return writer->Finish();
  }

  std::string AssumptionNotes() const {
    std::vector<std::string> lines;
    if (WritesConstants())
      lines.push_back(absl::StrCat("The constants that the model's file holds are in ", report_.name,
                                   kConstantsEnding, ", under their names."));
    if (input_.simplified.folded > 0)
      lines.push_back(
          absl::StrCat("Scales and shifts of ", input_.simplified.folded,
                       " sums are folded into their constants (policy fold-affine): they round otherwise."));
    if (input_.simplified.narrowed > 0)
      lines.push_back(absl::StrCat(input_.simplified.narrowed,
                                   " variances of f32 values are taken in f32 (policy narrow-variances)."));
    if (input_.simplified.assumed > 0)
      lines.push_back(absl::StrCat(
          "Assumed in ", input_.simplified.assumed,
          " operations of the file: values are numbers, and signs of zeros do not matter (policy "
          "assume-numbers)."));
    for (const BuiltTask& task : report_.tasks) {
      if (!task.assumptions.empty())
        lines.push_back(absl::StrCat("Assumed in ", task.name, ": ", task.assumptions));
    }
    return absl::StrJoin(lines, "\n");
  }

  const SessionOptions& options_;
  const Input& input_;
  const BuildSettings& settings_;
  Stop& stop_;
  std::optional<WeightsFile> weights_;
  std::vector<absl::string_view> constants_;  // the bytes of each constant; empty if they are not known
  bool has_all_constants_ = false;            // then the weights are prepared here
  ModelSchedules schedules_;
  BuildReport report_;
};

}  // namespace

absl::StatusOr<BuildReport> BuildModel(const SessionOptions& options, const Input& input,
                                       const BuildSettings& settings, Stop& stop) {
  return ModelBuild(options, input, settings, stop).Run();
}

absl::StatusOr<PlannedModel> ReadModelTrace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": there is no such file"));
  return ParseModelTrace(path,
                         std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
}

}  // namespace kiln::api
