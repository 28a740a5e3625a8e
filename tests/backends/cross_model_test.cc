// Builds whole models for 64-bit Arm with `kiln build`, runs them in a C program under qemu, and compares the results
// with those of the same model built for this machine.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "build_info.h"
#include "test_paths.h"
#include "tests/support/run_kiln.h"

namespace kiln {
namespace {

// A C program that fills inputs and constants with pseudo-random data, prepares the weights, runs the model on one
// thread and on two, and prints the results of both.
constexpr char kMain[] = R"(
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int net_by_table(void* const*), net_prepare_by_table(void* const*);
__attribute__((weak)) int net_set_threads(int);
int main(void) {
  void* table[COUNT + 2];
  uint32_t state = 7;
  for (int i = 0; i < COUNT + 2; ++i) {
    table[i] = aligned_alloc(64, (size[i] + 63) / 64 * 64);
    memset(table[i], 255, size[i]);
    for (long e = 0; i < COUNT && given[i] && e < size[i] / 4; ++e) {
      state = state * 1664525u + 1013904223u;
      ((float*)table[i])[e] = ((int)(state >> 16) % 1000 - 500) * (size[i] > 4096 ? 1e-4f : 1e-3f);
    }
  }
  if (net_prepare_by_table(table) != 0) return 2;
  for (int threads = 1; threads <= 2; ++threads) {
    if (net_set_threads) net_set_threads(threads);
    if (net_by_table(table) != 0) return 3;
    for (int i = 0; i < COUNT; ++i)
      if (!given[i]) fwrite(table[i], 1, size[i], stdout);
  }
  return 0;
}
)";

// Builds the model for the target, compiles it with the C program, and runs that. Returns the printed results: those of
// one thread, then those of two.
std::vector<float> Results(const TemporaryFolder& folder, const std::string& file, const std::string& target,
                           const std::string& compile, const std::string& run) {
  const std::string out = folder / target;
  const Ran built =
      RunKiln({"build", absl::StrCat(KILN_SOURCE_DIR, "/tests/inputs/models/", file), "--inputs", "1",
               "--name", "net", "-o", out, "--db", folder / "none.db", "--target", target, "--json"});
  EXPECT_EQ(built.exit_code, 0) << built.err;
  if (built.exit_code != 0) return {};
  const auto json = built.json();
  std::vector<int64_t> size;
  std::vector<int> given;
  for (const auto& p : json["parameters"]) {
    EXPECT_EQ(p["dtype"], "f32");
    int64_t elements = 1;
    for (const int64_t extent : p["shape"]) elements *= extent;
    size.push_back(4 * elements);
    given.push_back(p["role"] == "output" ? 0 : 1);
  }
  size.push_back(json["weights_bytes"]), size.push_back(json["arena_bytes"]);
  folder.Write(target + ".c", absl::StrCat("static const long size[] = {", absl::StrJoin(size, ", "),
                                           "};\nstatic const int given[] = {", absl::StrJoin(given, ", "),
                                           "};\nenum { COUNT = ", given.size(), " };\n", kMain));
  const std::string pool = ReadText(out + "/kiln_pool.c").empty() ? "" : out + "/kiln_pool.c";
  const std::string line =
      absl::StrCat("cd ", folder.path(), " && ", KILN_CXX_COMPILER, " ", compile, " -nostdlib++ -x c ",
                   target, ".c ", pool, " -x none ", out, "/net.a -lm -lpthread -o main-", target, " && ",
                   run, " ./main-", target, " > outputs-", target);
  EXPECT_EQ(std::system(line.c_str()), 0) << line;
  const std::string bytes = ReadText(folder / ("outputs-" + target));
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void ExpectTheSameOnArm(const std::string& file) {
  const TemporaryFolder folder;
  const std::vector<float> here = Results(folder, file, "host", "", "");
  const std::vector<float> arm =
      Results(folder, file, "aarch64", "--target=aarch64-linux-gnu -fuse-ld=lld -static", "qemu-aarch64");
  ASSERT_FALSE(here.empty());
  ASSERT_EQ(arm.size(), here.size());
  float most = 0;
  for (const float value : here) most = std::max(most, std::fabs(value));
  EXPECT_GT(most, 0);
  for (size_t n = 0; n < here.size(); ++n) ASSERT_NEAR(arm[n], here[n], 1e-5 * most) << "element " << n;
}

TEST(CrossModel, AConvolutionalNetworkRunsUnderQemu) { ExpectTheSameOnArm("onnx_dqn.mlir"); }

TEST(CrossModel, AnLstmRunsUnderQemu) { ExpectTheSameOnArm("torch_lstm_unrolled8.mlir"); }

}  // namespace
}  // namespace kiln
