#include "api/internal/libraries.h"

#include "backends/vendor/paired_timing.h"
#include "backends/vendor/vendor_libraries.h"
#include "backends/workers/scratch_folder.h"

namespace kiln::api {
namespace {

constexpr int kRounds = 20;
constexpr double kSecondsOfTurns = 1;
constexpr double kMaxSeconds = 0.1;  // for one program, so that a run ends soon after an interrupt

}  // namespace

std::vector<std::string> AddLibraries(const Program& task, const std::vector<std::string>& folders,
                                      const std::string& runner, RunRequest* request,
                                      std::vector<std::pair<std::string, std::string>>* left_out) {
  std::vector<std::string> names;
  std::vector<KernelObject> found;
  for (const VendorLibrary& peer : VendorLibrariesOf(task, folders)) {
    RunRequest once = *request;
    once.kernel = peer.kernel;
    once.peers = {};
    once.timing.runs = 0;
    const absl::Status ran = RunAlone(std::move(once), runner).status();
    if (ran.ok()) {
      found.push_back(peer.kernel);
      names.push_back(peer.name);
    } else if (!absl::IsNotFound(ran)) {
      left_out->emplace_back(peer.name, std::string(ran.message()));
    }
  }
  request->peers.insert(request->peers.end(), found.begin(), found.end());
  return names;
}

absl::StatusOr<std::vector<LibraryRatio>> BesideLibraries(const LibraryQuestion& question,
                                                          BuilderPool& builders) {
  std::vector<LibraryRatio> ratios;
  if (question.seconds > kMaxSeconds || VendorLibrariesOf(*question.task, {}).empty()) return ratios;
  auto kernel =
      BuildKernel(*question.task, *question.scheduled, builders, question.contract, question.policies);
  if (!kernel.ok()) return kernel.status();
  RunRequest request;
  request.kernel = *kernel;
  request.threads = question.threads;
  request.timing.runs = kRounds;
  request.timing.enough_seconds = kSecondsOfTurns;
  request.timing.cold_cache = question.cold;
  request.limits.seconds = 10;
  const auto scratch = ScratchFolder::Make();
  if (!scratch.ok()) return scratch.status();
  if (const absl::Status compared = CompareWith(*kernel, (*scratch)->path(), &request, question.runner);
      !compared.ok())
    return compared;
  std::vector<std::pair<std::string, std::string>> left_out;
  const std::vector<std::string> names =
      AddLibraries(*question.task, {}, question.runner, &request, &left_out);
  if (names.empty()) return ratios;
  const auto ran = RunAlone(std::move(request), question.runner);
  if (!ran.ok()) return ran.status();
  for (size_t i = 0; i < names.size(); ++i)
    ratios.push_back({names[i], MedianOf(ran->peer_seconds[i]).median,
                      RatioOf(ran->peer_seconds[i], ran->seconds).median});
  return ratios;
}

}  // namespace kiln::api
