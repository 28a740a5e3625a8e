#include "backends/gpu/driver/run_bundle.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "backends/gpu/driver/gpu_process.h"
#include "backends/gpu/driver/json_text.h"
#include "backends/runner/protocol.h"
#include "backends/workers/frames.h"
#include "lang/base/median.h"

namespace kiln {
namespace {

std::string ResultText(const RunResult& result) {
  std::string text = absl::StrCat(", \"status\": ", JsonText(std::string(RunStatusName(result.status))));
  if (!result.detail.empty()) absl::StrAppend(&text, ", \"detail\": ", JsonText(result.detail));
  if (result.status != RunStatus::kOk) return text;
  if (!result.seconds.empty())
    absl::StrAppend(&text, ", \"seconds\": ", JsonNumber(Median(result.seconds)),
                    ", \"samples\": ", JsonNumbers(result.seconds),
                    ", \"slowdown\": ", JsonNumber(result.slowdown));
  return absl::StrCat(text, ", \"prepare_seconds\": ", JsonNumber(result.prepare_seconds),
                      ", \"max_error\": ", JsonNumber(result.max_error));
}

void Write(FILE* out, const std::string& line) {
  fprintf(out, "%s\n", line.c_str());
  fflush(out);
}

RunResult RunFile(GpuProcess& gpu, const std::string& path) {
  std::stringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  RunRequest request;
  if (!Decode(bytes.str(), &request))
    return {.status = RunStatus::kLoadFailed, .detail = absl::StrCat(path, " is no request of this version")};
  return gpu.Run(bytes.str(), request.limits.seconds);
}

}  // namespace

std::string RunBundle(const std::string& folder, double seconds, FILE* out) {
  std::ifstream index(folder + "/bundle.txt");
  if (!index) return absl::StrCat("cannot read ", folder, "/bundle.txt");
  GpuProcess gpu;
  if (std::string problem = gpu.Start(); !problem.empty()) return problem;
  Write(out, absl::StrCat("{\"item\": \"machine\", \"machine\": ", gpu.machine(), "}"));
  const Deadline end = SecondsFromNow(seconds);
  int run = 0, left_out = 0;
  int number = 0;
  for (std::string line; std::getline(index, line);) {
    ++number;
    const size_t tab = line.find('\t');
    if (tab == std::string::npos || line.size() < tab + 3 || line.back() != '}')
      return absl::StrCat(folder, "/bundle.txt:", number, ": no file and object: ", line);
    const absl::string_view file = absl::string_view(line).substr(0, tab);
    const absl::string_view object = absl::string_view(line).substr(tab + 1);
    if (file == "-") {
      Write(out, std::string(object));
      continue;
    }
    if (std::chrono::steady_clock::now() >= end) {
      ++left_out;
      continue;
    }
    ++run;
    const RunResult result = RunFile(gpu, absl::StrCat(folder, "/", file));
    Write(out, absl::StrCat(object.substr(0, object.size() - 1), ResultText(result),
                            ", \"state\": ", gpu.StateNow().Json(), "}"));
  }
  Write(out, absl::StrCat("{\"item\": \"end\", \"run\": ", run, ", \"left_out\": ", left_out,
                          ", \"starts\": ", gpu.starts(), "}"));
  return "";
}

}  // namespace kiln
