// Session::Run: runs and times the library of a whole model in a runner.
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/internal/json.h"
#include "api/internal/operations/operations.h"
#include "api/internal/workers.h"
#include "backends/codegen/symbol_bytes.h"
#include "backends/model/npy.h"
#include "backends/model/weights_file.h"
#include "backends/vendor/paired_timing.h"

namespace kiln::api {
namespace {

absl::StatusOr<std::string> Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": there is no such file"));
  return std::string{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// What the library says of itself (backends/model/driver.h).
absl::StatusOr<RunReport> Described(const std::string& path, const std::string& library) {
  const auto text = BytesOfSymbol(library, "_metadata");
  if (!text.ok())
    return Mistake(absl::InvalidArgumentError(
        absl::StrCat(path, ": not a library of `kiln build`: ", text.status().message())));
  const Json json = Json::parse(text->c_str(), nullptr, false);
  RunReport report{.library = path};
  try {
    report.name = json.at("name");
    report.weights_bytes = json.at("weights_bytes");
    report.arena_bytes = json.at("arena_bytes");
    for (const Json& p : json.at("parameters"))
      report.parameters.push_back(
          {p.at("name"), p.value("argument", ""), p.at("dtype"), p.at("shape"), p.at("role")});
  } catch (const Json::exception& e) {
    return absl::DataLossError(absl::StrCat(path, ": what it says of itself is malformed: ", e.what()));
  }
  return report;
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

class ModelRun {
 public:
  ModelRun(const RunSettings& settings, RunReport report, std::string library)
      : s_(settings), report_(std::move(report)) {
    kernel_.shared_object = std::move(library);
    kernel_.symbol = absl::StrCat(report_.name, "_by_table");
    kernel_.takes_table = true;
    if (s_.weights.empty() && report_.weights_bytes > 0)
      kernel_.prepare_symbol = absl::StrCat(report_.name, "_prepare_by_table");
    if (BytesOfSymbol(kernel_.shared_object, "_set_threads").status().code() != absl::StatusCode::kNotFound)
      kernel_.threads_symbol = absl::StrCat(report_.name, "_set_threads");
  }

  absl::StatusOr<RunReport> Run(const std::string& runner) {
    if (auto status = AddParameters(); !status.ok()) return status;
    if (auto status = AddWeights(); !status.ok()) return status;
    kernel_.params.push_back({"u8", std::max<int64_t>(report_.arena_bytes, 1), KernelParam::kWorkspace});
    RunRequest request{.kernel = std::move(kernel_), .data_seed = s_.seed, .threads = s_.threads};
    request.timing.runs = s_.runs;
    request.limits.seconds = s_.seconds;
    request.limits.bytes = 2 * report_.weights_bytes + report_.arena_bytes + (int64_t{8} << 30);
    const auto ran = RunAlone(std::move(request), runner);
    if (!ran.ok()) return ran.status();
    const MedianInterval median = MedianOf(ran->seconds);
    report_.seconds = {median.median, median.low, median.high};
    report_.runs = static_cast<int>(ran->seconds.size());
    report_.threads = s_.threads;
    report_.prepare_seconds = ran->prepare_seconds;
    return std::move(report_);
  }

 private:
  absl::Status AddParameters() {
    size_t next = 0;
    for (const Parameter& p : report_.parameters) {
      KernelParam param{.dtype = p.dtype, .elements = ElementsOf(p), .role = RoleOf(p)};
      // Without the prepare phase nothing reads the constants.
      if (param.role == KernelParam::kConstant && !s_.weights.empty()) param.elements = 1;
      const bool is_input = param.role == KernelParam::kInput || param.role == KernelParam::kScalar;
      if (is_input && next < s_.inputs.size()) {
        auto data = InputFrom(s_.inputs[next++], p);
        if (!data.ok()) return data.status();
        param.data = *std::move(data);
      }
      if (param.role == KernelParam::kOutput) param.tolerance = {.relative = INFINITY, .absolute = INFINITY};
      kernel_.params.push_back(std::move(param));
    }
    if (next == s_.inputs.size()) return absl::OkStatus();
    return Mistake(absl::InvalidArgumentError(
        absl::StrCat(s_.library, ": has ", next, " inputs, and ", s_.inputs.size(), " files were given")));
  }

  static absl::StatusOr<std::string> InputFrom(const std::string& path, const Parameter& p) {
    const auto bytes = Read(path);
    if (!bytes.ok()) return Mistake(bytes.status());
    const auto tensor = ParseNpy(*bytes, p.name, path);
    if (!tensor.ok()) return Mistake(tensor.status());
    const std::string found = TypeText(tensor->dtype, tensor->shape);
    const std::string wanted = absl::StrCat(p.dtype, "[", absl::StrJoin(p.shape, ","), "]");
    if (found != wanted)
      return Mistake(absl::InvalidArgumentError(
          absl::StrCat(path, ": found ", found, ", wanted ", wanted, " for ", p.name)));
    return std::string(tensor->bytes);
  }

  absl::Status AddWeights() {
    const int64_t bytes = std::max<int64_t>(report_.weights_bytes, 1);
    if (s_.weights.empty()) {
      kernel_.params.push_back(
          {"u8", bytes, report_.weights_bytes > 0 ? KernelParam::kPrepared : KernelParam::kWorkspace});
      return absl::OkStatus();
    }
    const auto file = WeightsFile::Open(s_.weights);
    if (!file.ok()) return Mistake(file.status());
    const auto& tensors = file->tensors();
    if (tensors.size() != 1 || tensors[0].name != "weights" ||
        static_cast<int64_t>(tensors[0].bytes.size()) != report_.weights_bytes)
      return Mistake(absl::InvalidArgumentError(
          absl::StrCat(s_.weights, ": not the weights of ", report_.name, ", wanted a tensor \"weights\" of ",
                       report_.weights_bytes, " bytes")));
    kernel_.params.push_back({"u8", bytes, KernelParam::kConstant, std::string(tensors[0].bytes)});
    return absl::OkStatus();
  }

  const RunSettings& s_;
  RunReport report_;
  KernelObject kernel_;
};

}  // namespace

absl::StatusOr<RunReport> RunModel(const SessionOptions& options, const RunSettings& settings) {
  auto library = Read(settings.library);
  if (!library.ok()) return library.status();
  auto report = Described(settings.library, *library);
  if (!report.ok()) return report.status();
  const auto workers = FindWorkers(options.workers);
  if (!workers.ok()) return workers.status();
  return ModelRun(settings, *std::move(report), *std::move(library)).Run(workers->runner);
}

}  // namespace kiln::api
