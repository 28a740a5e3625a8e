// Compiles small kernels from C on demand and makes requests to run them, for tests of the runner (backends/runner).
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/runner/pool.h"
#include "backends/runner/runner.h"
#include "test_paths.h"

namespace kiln {

inline std::string ReadFile(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

inline const std::filesystem::path& TestFolder() {
  static const std::filesystem::path folder = [] {
    std::string name = testing::TempDir() + "kiln-runner-XXXXXX";
    return std::filesystem::path(mkdtemp(name.data()));
  }();
  return folder;
}

// Returns the bytes of the shared object that cc makes of a C source. Each source is compiled once per process.
inline const std::string& CompileC(const std::string& source) {
  static std::map<std::string, std::string> compiled;
  auto [at, is_new] = compiled.try_emplace(source);
  if (is_new) {
    const auto c = TestFolder() / absl::StrCat("k", compiled.size(), ".c");
    const auto so = std::filesystem::path(c).replace_extension(".so");
    std::ofstream(c) << source;
    const std::string command =
        absl::StrCat("cc -w -O1 -shared -fPIC -o ", so.string(), " ", c.string(), " -lm");
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    at->second = ReadFile(so);
  }
  return at->second;
}

// Returns a request to run the function f(in, out) of the C code `body`, with an input and an output of `elements` f32.
inline RunRequest Request(const std::string& body, int64_t elements = 1000) {
  RunRequest request;
  request.kernel = {.shared_object = CompileC(
                        "#define _GNU_SOURCE\n#include <stdlib.h>\n#include <stdio.h>\n#include <unistd.h>\n"
                        "#include <signal.h>\n#include <time.h>\n" +
                        body),
                    .symbol = "f",
                    .params = {{.dtype = "f32", .elements = elements, .role = KernelParam::kInput},
                               {.dtype = "f32",
                                .elements = elements,
                                .role = KernelParam::kOutput,
                                .tolerance = {.relative = 1e-6, .absolute = 1e-6}}}};
  request.data_seed = 7;
  request.limits = {.seconds = 5, .bytes = 256 << 20};
  return request;
}

inline constexpr char kTwice[] =
    "int f(float* a, float* b) { for (int i = 0; i < 1000; ++i) b[i] = 2 * a[i]; return 0; }";

inline std::string RunnerPath() { return std::string(KILN_BUILD_DIR) + "/kiln-runner"; }

inline std::unique_ptr<RunnerPool> StartPool(RunnerPoolOptions options = {}) {
  options.runner_path = RunnerPath();
  auto pool = RunnerPool::Start(options);
  EXPECT_TRUE(pool.ok()) << pool.status();
  return pool.ok() ? *std::move(pool) : nullptr;
}

inline RunResult RunOne(const RunRequest& request) {
  static const auto pool = StartPool();
  if (pool == nullptr) return {};
  return pool->RunAll({request}).front();
}

// Runs kTwice, which doubles 1000 floats, writes its output to a file to compare others with, and returns the file's
// path.
inline std::string TwiceReference() {
  RunRequest request = Request(kTwice);
  request.write_reference_to = TestFolder() / "twice";
  const RunResult result = RunOne(request);
  EXPECT_EQ(result.status, RunStatus::kOk) << result.detail;
  return request.write_reference_to;
}

inline std::string Name(const RunResult& result) { return std::string(RunStatusName(result.status)); }

// Returns a request to run a kernel that only spins. `seconds` is a C expression for the processor time of a run, in
// seconds, in which n is the number of earlier runs.
inline RunRequest Spin(const std::string& seconds) {
  return Request(absl::StrCat(
      "static double now() { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return "
      "t.tv_sec + 1e-9 * t.tv_nsec; }\n"
      "int n; int f(float* a, float* b) { double end = now() + (",
      seconds, "); ++n; while (now() < end); return 0; }"));
}

inline RunRequest Spin(double seconds) { return Spin(absl::StrCat(seconds)); }

}  // namespace kiln
