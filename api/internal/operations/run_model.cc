// Session::Run: runs and times the library of a whole model in a runner.
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "api/errors.h"
#include "api/internal/interval.h"
#include "api/internal/model/run_whole.h"
#include "api/internal/model/whole.h"
#include "api/internal/operations/operations.h"
#include "api/internal/workers.h"
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

class ModelRun {
 public:
  ModelRun(const RunSettings& settings, const LibraryText& described, std::string library)
      : s_(settings), described_(described), kernel_(KernelOfModel(described, std::move(library))) {}

  absl::StatusOr<RunReport> Run(const std::string& runner, Stop& stop) {
    if (auto status = TakeInputs(); !status.ok()) return status;
    if (auto status = TakeWeights(); !status.ok()) return status;
    RunRequest request{.kernel = std::move(kernel_), .data_seed = s_.seed, .threads = s_.threads};
    request.timing.runs = s_.runs;
    request.limits.seconds = s_.seconds;
    request.limits.bytes = RunBytesOf(described_);
    if (s_.profile) {
      if (described_.calls.empty())
        return Mistake(absl::InvalidArgumentError(
            absl::StrCat(s_.library, ": built by an older Kiln, which cannot time calls; build it again")));
      request.profile = ProfileOf(described_, s_.runs);
    }
    const auto ran = RunWhole(std::move(request), runner, stop);
    if (!ran.ok()) return ran.status();
    return RunReport{.library = s_.library,
                     .name = described_.name,
                     .parameters = described_.parameters,
                     .weights_bytes = described_.weights_bytes,
                     .arena_bytes = described_.arena_bytes,
                     .runs = static_cast<int>(ran->seconds.size()),
                     .threads = s_.threads,
                     .seconds = IntervalOf(MedianOf(ran->seconds)),
                     .prepare_seconds = ran->prepare_seconds,
                     .calls = CallTimesOf(described_, ran->call_seconds)};
  }

 private:
  absl::Status TakeInputs() {
    size_t next = 0;
    for (size_t i = 0; i < described_.parameters.size() && next < s_.inputs.size(); ++i) {
      KernelParam& param = kernel_.params[i];
      if (param.role != KernelParam::kInput && param.role != KernelParam::kScalar) continue;
      auto data = InputFrom(s_.inputs[next++], described_.parameters[i]);
      if (!data.ok()) return data.status();
      param.data = *std::move(data);
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

  // Sets the weights in the user's file, if there is one, as data of the kernel, which then needs no constants and no
  // prepare phase. A file that does not fit the library is a Mistake.
  absl::Status TakeWeights() {
    if (s_.weights.empty()) return absl::OkStatus();
    const auto file = WeightsFile::Open(s_.weights);
    if (!file.ok()) return Mistake(file.status());
    const auto& tensors = file->tensors();
    if (tensors.size() != 1 || tensors[0].name != "weights" ||
        static_cast<int64_t>(tensors[0].bytes.size()) != described_.weights_bytes)
      return Mistake(absl::InvalidArgumentError(
          absl::StrCat(s_.weights, ": not the weights of ", described_.name,
                       ", wanted a tensor \"weights\" of ", described_.weights_bytes, " bytes")));
    kernel_.prepare_symbol.reset();
    for (KernelParam& param : kernel_.params) {
      if (param.role == KernelParam::kConstant) param.elements = 1;
      if (param.role == KernelParam::kPrepared) {
        param.role = KernelParam::kConstant;
        param.data = std::string(tensors[0].bytes);
      }
    }
    return absl::OkStatus();
  }

  const RunSettings& s_;
  const LibraryText& described_;
  KernelObject kernel_;
};

}  // namespace

absl::StatusOr<RunReport> RunModel(const SessionOptions& options, const RunSettings& settings, Stop& stop) {
  const Stop::Work work(stop);
  auto library = Read(settings.library);
  if (!library.ok()) return library.status();
  const auto described = DescriptionOf(settings.library, *library);
  if (!described.ok()) return described.status();
  const auto workers = FindWorkers(options.workers);
  if (!workers.ok()) return workers.status();
  return ModelRun(settings, *described, *std::move(library)).Run(workers->runner, stop);
}

}  // namespace kiln::api
