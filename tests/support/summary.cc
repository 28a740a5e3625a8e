#include "tests/support/summary.h"

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "fmt/format.h"
#include "lang/base/mixer.h"

namespace kiln {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Returns a hash of this test program and of the libraries of Kiln that it has loaded. Results with another hash are
// not reused.
const std::string& Fingerprint() {
  static const std::string fingerprint = [] {
    Mixer mixer;
    std::set<std::string> files;
    std::istringstream maps(ReadFile("/proc/self/maps"));
    for (std::string line; std::getline(maps, line);) {
      const size_t at = line.find('/');
      if (at != std::string::npos && line.find("kiln") != std::string::npos) files.insert(line.substr(at));
    }
    for (const std::string& path : files) {
      for (const char c : ReadFile(path)) mixer.Add(static_cast<unsigned char>(c));
    }
    return fmt::format("{:016x}", mixer.Finish().low);
  }();
  return fingerprint;
}

std::string Cpu() {
  std::istringstream info(ReadFile("/proc/cpuinfo"));
  for (std::string line; std::getline(info, line);) {
    const size_t at = line.find(": ");
    if (line.rfind("model name", 0) == 0 && at != std::string::npos) return line.substr(at + 2);
  }
  return "unknown";
}

}  // namespace

std::vector<Json> ReadChunks(const RunFiles& files) {
  std::vector<Json> chunks;
  std::ifstream file(files.results);
  for (std::string line; std::getline(file, line);) {
    const Json chunk = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (chunk.is_object() && chunk.value("binary", "") == Fingerprint() && chunk.value("failures", 1) == 0)
      chunks.push_back(chunk);
  }
  return chunks;
}

void AppendChunk(const RunFiles& files, Json chunk) {
  if (files.results.empty()) return;
  Json line = {{"binary", Fingerprint()}};
  line.update(chunk);
  std::ofstream(files.results, std::ios::app) << line.dump() << std::endl;
}

void AddNumbers(const Json& from, Json& to) {
  if (to.is_null()) to = Json::object();
  for (const auto& [key, value] : from.items()) {
    if (value.is_object()) {
      AddNumbers(value, to[key]);
    } else if (value.is_number_integer()) {
      to[key] = to.value(key, int64_t{0}) + value.get<int64_t>();
    } else if (value.is_number()) {
      to[key] = to.value(key, 0.0) + value.get<double>();
    }
  }
}

void WriteSummary(const RunFiles& files, const std::string& run, const Json& found) {
  if (files.summary.empty()) return;
  Json summary = {{"run", run},
                  {"commit", files.commit},
                  {"date", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone())},
                  {"cpu", Cpu()}};
  summary.update(found);
  std::ofstream(files.summary) << summary.dump(1) << "\n";
}

}  // namespace kiln
