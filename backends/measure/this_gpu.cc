#include "backends/measure/this_gpu.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "backends/workers/run_program.h"
#include "backends/workers/scratch_folder.h"
#include "backends/workers/worker_process.h"
#include "nlohmann/json.hpp"

namespace kiln {
namespace {

constexpr int kNoGpu = 3;  // exit status of `kiln-gpu-runner --machine`

}  // namespace

bool ThisGpu::Runs(const Gpu& gpu) const {
  std::string digits(gpu.sm);  // "sm_90a"
  std::erase_if(digits, [](unsigned char c) { return std::isdigit(c) == 0; });
  return digits == std::to_string(sm);
}

absl::StatusOr<ThisGpu> FindThisGpu(const std::string& gpu_runner_path) {
  const auto runner =
      gpu_runner_path.empty() ? FindProgram("kiln-gpu-runner") : absl::StatusOr<std::string>(gpu_runner_path);
  if (!runner.ok()) return runner.status();
  const auto folder = ScratchFolder::Make();
  if (!folder.ok()) return folder.status();
  const std::string output = (*folder)->path() + "/machine";
  const int status = RunProgram({*runner, "--machine"}, output);
  std::stringstream text;
  text << std::ifstream(output).rdbuf();
  const std::string line(absl::StripPrefix(absl::StripSuffix(text.str(), "\n"), "kiln-gpu-runner: "));
  if (status == kNoGpu) return absl::NotFoundError(line);
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (status != 0 || !json.is_object() || !json.contains("fingerprint"))
    return absl::FailedPreconditionError(absl::StrCat("NVIDIA's driver fails: ", line));
  const auto state = json.value("now", nlohmann::json());
  const nlohmann::json now = state.is_object() ? state : nlohmann::json::object();
  return ThisGpu{.name = json.value("name", ""),
                 .fingerprint = json.value("fingerprint", ""),
                 .sm = json.value("sm", 0),
                 .driver = json.value("driver", 0),
                 .memory_bytes = json.value("memory_bytes", int64_t{0}),
                 .clock_mhz = now.value("clock_mhz", 0),
                 .most_clock_mhz = now.value("most_clock_mhz", 0),
                 .celsius = now.value("celsius", 0),
                 .used_percent = now.value("used_percent", 0),
                 .slowed = now.value("slowed", "")};
}

}  // namespace kiln
